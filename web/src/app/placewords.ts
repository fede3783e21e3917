/** A place in words. */
import { el } from "../dom";
import { api, type Place, type PlaceFacts } from "./api";
import { fill, t } from "./texts";

/** By its coordinates or its size. */
export function placeInWords(place: Place): string {
  if (place.kind === "unit") return t.place.unit;
  if (place.kind === "image") return fill(t.place.pixels, { width: place.size[0], height: place.size[1] });
  const [west, south, east, north] = place.bounds;
  return fill(t.place.box, { west: degrees(west, "EW"), east: degrees(east, "EW"), south: degrees(south, "NS"), north: degrees(north, "NS") });
}

/** To a metre or so. */
const degrees = (value: number, letters: string): string => `${Number(Math.abs(value).toFixed(5))}°\u00a0${letters[value < 0 ? 1 : 0]}`;

/** What is publicly known of a place, from the place alone: the server is told nothing else. */
export async function factsOf(place: Place): Promise<PlaceFacts | null> {
  return place.kind === "bbox" ? api.place(place.bounds) : null;
}

/** The facts as paragraphs, warnings last. */
export function factsInWords({ words, warnings }: PlaceFacts): HTMLElement[] {
  return [el("p", {}, words), ...warnings.map((text) => el("p", { class: "over" }, text))];
}
