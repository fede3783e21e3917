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

/** The four corners of the heat: from the upper left, clockwise. */
export function corners(data: MapData): [[number, number], [number, number], [number, number], [number, number]] {
  const [left, top, right, bottom] = data.place;
  const corner = (x: number, y: number): [number, number] => {
    const { lng, lat } = toLngLat(x, y);
    return [lng, lat];
  };
  return [corner(left, top), corner(right, top), corner(right, bottom), corner(left, bottom)];
}

/** The pixel of the heat at a point of the map, or null outside of it. */
export function pixelAt(data: MapData, at: LngLat): { row: number; column: number } | null {
  const [left, top, right, bottom] = data.place;
  const { x, y } = toSquare(at);
  const column = Math.floor((data.columns * (x - left)) / (right - left));
  const row = Math.floor((data.rows * (y - top)) / (bottom - top));
  const inside = column >= 0 && column < data.columns && row >= 0 && row < data.rows;
  return inside ? { row, column } : null;
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

/** Where a pixel lies, in words. */
export function placeInWords(data: MapData, row: number, column: number): string {
  const [x0, y0, x1, y1] = edges(data, row, column, 1, 1);
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  if (data.kind !== "bbox") {
    const digits = data.kind === "unit" ? 3 : 0;
    return `x ${x.toFixed(digits)}, y ${y.toFixed(digits)}`;
  }
  const digits = Math.min(Math.max(Math.ceil(-Math.log10(Math.abs(x1 - x0))), 1), 6);
  const degrees = (value: number, letters: string) =>
    `${Math.abs(value).toFixed(digits)}° ${letters[value < 0 ? 1 : 0]}`;
  return `${degrees(y, "NS")}, ${degrees(x, "EW")}`;
}
