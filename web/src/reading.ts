/** What is read at a point of the map, in words. */
import type { Areas } from "./areas";
import type { City, MapData } from "./data";
import type { Heat } from "./heat";
import { fill, range, single, upTo } from "./numbers";
import { fractionsAt, kilometres, type LngLat, placeInWords } from "./place";

export interface Reading {
  words: string;
  /** How often such ranges hold the truth; empty where no range is told. */
  sure: string;
  place: string;
}

const [NEAR, FARTHEST] = [0.12, 50]; // of the map's longer side, and kilometres

export function readingAt(data: MapData, heat: Heat, cities: City[], at: LngLat, areas: Areas | null = null): Reading {
  const { x, y } = fractionsAt(data, at);
  if (areas) {
    const found = areas.at(x, y);
    if (!found) return { words: areas.data.none, sure: "", place: placeOf(data, cities, at) };
    return { words: found.words, sure: found.band < 0 ? "" : data.reading.sure, place: found.name };
  }
  return { ...(heat.holds(x, y) ? known(data, heat.read(x, y)) : { words: data.reading.outside, sure: "" }), place: placeOf(data, cities, at) };
}

type Known = ReturnType<Heat["read"]>;

export function known({ reading, signed, nothing }: MapData, { value, low, high, clarity }: Known): Omit<Reading, "place"> {
  const clear = clarity >= 1 && !nothing;
  if (signed && !clear) return { words: reading.cantTell, sure: "" };
  if (low === null || high === null) return { words: fill(reading.value, { v: single(value, signed) }), sure: "" };
  if (!clear) return { words: fill(reading.bare, { hi: upTo(high) }), sure: reading.sure };
  const [lo, hi] = range(low, high, signed);
  return { words: fill(reading.range, { lo, hi }), sure: reading.sure };
}

/** "near Hoboken", or where no name is near, the coordinates. */
function placeOf(data: MapData, cities: City[], at: LngLat): string {
  const found = nearest(cities, at);
  return found && found.away <= reach(data) ? `near ${found.name}` : placeInWords(data, at);
}

export function nearest(cities: City[], at: LngLat): { name: string; away: number } | null {
  let best: { name: string; away: number } | null = null;
  for (const [name, lng, lat] of cities) {
    if (best && Math.abs(lat - at.lat) * 111 > best.away) continue;
    const away = kilometres(at, { lng, lat });
    if (!best || away < best.away) best = { name, away };
  }
  return best;
}

/** How far from a name a place is still near it, in kilometres. */
function reach({ bounds: [west, south, east, north] }: MapData): number {
  const across = kilometres({ lng: west, lat: (south + north) / 2 }, { lng: east, lat: (south + north) / 2 });
  return Math.min(NEAR * Math.max(across, 111.2 * Math.abs(north - south)), FARTHEST);
}
