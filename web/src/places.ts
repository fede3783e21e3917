/** The busiest places as a table, which is also what those get who don't see the map. */
import type { Busiest, MapData } from "./data";
import { button, el } from "./dom";
import { range } from "./numbers";

export function placesTable({ busiest, legend, reading, signed }: MapData, go: (place: Busiest) => void): HTMLElement {
  const row = (place: Busiest) => {
    const [low, high] = range(place.low, place.high, signed);
    return el("tr", {}, el("th", { scope: "row" }, button(place.name, () => go(place), { class: "link" })), el("td", {}, `${low}${signed ? " to " : "–"}${high}`));
  };
  return el(
    "table",
    {},
    el("caption", {}, [legend.short, reading.sure].filter(Boolean).join(". ")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Place"), el("th", { scope: "col" }, "Range"))),
    el("tbody", {}, ...busiest.map(row)),
  );
}
