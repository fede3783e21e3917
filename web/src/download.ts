/** Files to take away. */
import type { MapData } from "./data";
import type { Heat } from "./heat";
import { edges } from "./place";

const MOST_BLOCKS = 128; // of pixels along a side: a file that other programs open without pain

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Blocks of pixels as GeoJSON, each with its mean value, the range in its middle, and whether it can be told at all. */
export function geoJson(data: MapData, values: Float32Array, heat: Pick<Heat, "read" | "holds">): GeoJSON.FeatureCollection {
  const side = Math.max(1, Math.ceil(Math.max(data.rows, data.columns) / MOST_BLOCKS));
  const features: GeoJSON.Feature[] = [];
  for (let row = 0; row < data.rows; row += side) {
    for (let column = 0; column < data.columns; column += side) {
      const [height, width] = [Math.min(side, data.rows - row), Math.min(side, data.columns - column)];
      const value = meanOf(values, data.columns, row, column, height, width);
      const [x, y] = [(column + width / 2) / data.columns, (row + height / 2) / data.rows];
      if (!heat.holds(x, y)) continue;
      const middle = heat.read(x, y);
      const properties: Record<string, number | boolean> = { value: tidy(value) };
      if (middle.low !== null && middle.high !== null) {
        // Ends are factors of the value, but of a difference they are ends.
        const [low, high] = [middle.low, middle.high].map((end) => (data.signed || !middle.value ? end : (end / middle.value) * value));
        Object.assign(properties, { low: tidy(low), high: tidy(high) });
      }
      if (data.clarity) properties.clear = middle.clarity >= 1;
      const [x0, y0, x1, y1] = edges(data, row, column, height, width).map((edge) => Number(edge.toFixed(7)));
      // Anticlockwise on a map whose north is up, as the standard asks.
      const ring = [[x0, y0], [x0, y1], [x1, y1], [x1, y0], [x0, y0]];
      features.push({ type: "Feature", properties, geometry: { type: "Polygon", coordinates: [ring] } });
    }
  }
  const about = { unit: data.legend.title, title: data.title, promise: data.badge, facts: data.facts, warnings: data.warnings };
  return { type: "FeatureCollection", features, ...about } as GeoJSON.FeatureCollection;
}

function meanOf(layer: Float32Array, columns: number, row: number, column: number, height: number, width: number) {
  let sum = 0;
  for (let y = row; y < row + height; y++) {
    for (let x = column; x < column + width; x++) sum += layer[y * columns + x];
  }
  return sum / (height * width);
}

function tidy(value: number): number {
  return Number(value.toPrecision(6));
}
