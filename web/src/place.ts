/** From the map to the pixels of the heat and to coordinates that people read. */
import type { MapData } from "./data";

export interface LngLat {
  lng: number;
  lat: number;
}

/** A point on the Mercator square, rows downward, as longitude and latitude. */
export function toLngLat(x: number, y: number): LngLat {
  return { lng: 360 * x - 180, lat: (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI };
}

export function toSquare({ lng, lat }: LngLat): { x: number; y: number } {
  const sine = Math.sin((lat * Math.PI) / 180);
  return { x: lng / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) };
}

type Corner = [lng: number, lat: number];

/** A part of the heat, as fractions of its width and height. */
export interface Part {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export const WHOLE: Part = { x0: 0, y0: 0, x1: 1, y1: 1 };

/** The four corners of the heat, or of a part of it: from the upper left, clockwise. */
export function corners(data: MapData, part: Part = WHOLE): [Corner, Corner, Corner, Corner] {
  const corner = (x: number, y: number): Corner => {
    const { lng, lat } = atFractions(data, x, y);
    return [lng, lat];
  };
  const { x0, y0, x1, y1 } = part;
  return [corner(x0, y0), corner(x1, y0), corner(x1, y1), corner(x0, y1)];
}

/** A point of the map as fractions of the heat's width and height, below 0 or above 1 outside of it. */
export function fractionsAt(data: MapData, at: LngLat): { x: number; y: number } {
  const [left, top, right, bottom] = data.place;
  const { x, y } = toSquare(at);
  const nearest = x + Math.round((left + right) / 2 - x); // of all copies of the world
  return { x: (nearest - left) / (right - left), y: (y - top) / (bottom - top) };
}

/** The point of the map at fractions of the heat's width and height. */
export function atFractions(data: MapData, x: number, y: number): LngLat {
  const [left, top, right, bottom] = data.place;
  return toLngLat(left + (right - left) * x, top + (bottom - top) * y);
}

/** The point of the map at the domain's own coordinates. */
export function atOwn(data: MapData, x: number, y: number): LngLat {
  if (data.kind === "bbox") return { lng: x, lat: y };
  const [x0, y0, x1, y1] = data.bounds;
  return atFractions(data, (x - x0) / (x1 - x0), (y - y0) / (y1 - y0));
}

/** Edges of a block of pixels in the domain's own coordinates: x0, y0, x1, y1, the first row at y0. */
export function edges(data: MapData, row: number, column: number, rows: number, columns: number): number[] {
  const [left, top, right, bottom] = data.place;
  const along = (from: number, to: number, part: number) => from + (to - from) * part;
  if (data.kind === "bbox") {
    const a = toLngLat(along(left, right, column / data.columns), along(top, bottom, row / data.rows));
    const b = toLngLat(
      along(left, right, (column + columns) / data.columns),
      along(top, bottom, (row + rows) / data.rows),
    );
    return [a.lng, a.lat, b.lng, b.lat];
  }
  const [x0, y0, x1, y1] = data.bounds;
  return [
    along(x0, x1, column / data.columns),
    along(y0, y1, row / data.rows),
    along(x0, x1, (column + columns) / data.columns),
    along(y0, y1, (row + rows) / data.rows),
  ];
}

/** Where a point lies, in words: as exactly as a pixel is wide. */
export function placeInWords(data: MapData, at: LngLat): string {
  if (data.kind !== "bbox") {
    const [x0, y0, x1, y1] = data.bounds;
    const { x, y } = fractionsAt(data, at);
    const digits = data.kind === "unit" ? 3 : 0;
    return `x ${(x0 + (x1 - x0) * x).toFixed(digits)}, y ${(y0 + (y1 - y0) * y).toFixed(digits)}`;
  }
  const wide = (360 * (data.place[2] - data.place[0])) / data.columns;
  const digits = Math.min(Math.max(Math.ceil(-Math.log10(wide)), 1), 6);
  const degrees = (value: number, letters: string) =>
    `${Math.abs(value).toFixed(digits)}° ${letters[value < 0 ? 1 : 0]}`;
  return `${degrees(at.lat, "NS")}, ${degrees(at.lng - 360 * Math.round(at.lng / 360), "EW")}`;
}

const EARTH = 6371; // kilometres

/** Kilometres along the ground. */
export function kilometres(a: LngLat, b: LngLat): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (x: number) => Math.sin(radians(x) / 2) ** 2;
  const chord = half(b.lat - a.lat) + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * half(b.lng - a.lng);
  return 2 * EARTH * Math.asin(Math.min(1, Math.sqrt(chord)));
}
