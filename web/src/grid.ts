/** Values between the pixels of a grid. */
import type { Grid } from "./data";

const ENOUGH = 512; // pixels of the longer side, from which straight lines between pixels look smooth

/** Where a line of points falls on the pixels of a grid: the pixel before each, and how far it is to the next. */
export interface Steps {
  before: Int32Array;
  part: Float32Array;
}

/** Points evenly between two fractions of a side that has so many pixels; without `smooth`, each on its pixel's middle. */
export function stepsOf(pixels: number, from: number, to: number, count: number, smooth: boolean): Steps {
  const before = new Int32Array(count);
  const part = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const at = (from + ((to - from) * (i + 0.5)) / count) * pixels - 0.5;
    const inside = Math.min(Math.max(smooth ? at : Math.round(at), 0), pixels - 1);
    before[i] = Math.min(Math.floor(inside), Math.max(pixels - 2, 0));
    part[i] = inside - before[i];
  }
  return { before, part };
}

/** The value at fractions of the width and the height, straight between the middles of pixels. */
export function valueAt({ values, rows, columns }: Grid, x: number, y: number, smooth = true): number {
  const inside = (at: number, pixels: number) => Math.min(Math.max(smooth ? at : Math.round(at), 0), pixels - 1);
  const across = inside(x * columns - 0.5, columns);
  const down = inside(y * rows - 0.5, rows);
  const [column, row] = [Math.floor(across), Math.floor(down)];
  const right = column + 1 < columns ? 1 : 0;
  const below = row + 1 < rows ? columns : 0;
  const at = row * columns + column;
  const upper = values[at] + (values[at + right] - values[at]) * (across - column);
  const lower = values[at + below] + (values[at + below + right] - values[at + below]) * (across - column);
  return upper + (lower - upper) * (down - row);
}

/** A coarse grid made finer by cubics through its values, so that lines drawn along it have no corners. */
export function refined(grid: Grid): Grid {
  const times = Math.ceil(ENOUGH / Math.max(grid.rows, grid.columns));
  if (times <= 1) return grid;
  const wide = along(grid.values, grid.rows, grid.columns, grid.columns, 1, times);
  const columns = grid.columns * times;
  const values = along(wide, columns, grid.rows, 1, columns, times);
  return { values, rows: grid.rows * times, columns };
}

/** Catmull and Rom's cubics along each of some lines of so many values, which lie `stride` apart. */
function along(values: Float32Array, lines: number, count: number, lineStride: number, stride: number, times: number) {
  const found = new Float32Array(values.length * times);
  const outLine = lineStride === 1 ? 1 : lineStride * times;
  for (let i = 0; i < count * times; i++) {
    const at = (i + 0.5) / times - 0.5;
    const k = Math.floor(at);
    const t = at - k;
    const weights = [
      (-t + 2 * t * t - t * t * t) / 2,
      (2 - 5 * t * t + 3 * t * t * t) / 2,
      (t + 4 * t * t - 3 * t * t * t) / 2,
      (t * t * t - t * t) / 2,
    ];
    const from = [-1, 0, 1, 2].map((d) => Math.min(Math.max(k + d, 0), count - 1) * stride);
    for (let line = 0; line < lines; line++) {
      let sum = 0;
      for (let d = 0; d < 4; d++) sum += weights[d] * values[line * lineStride + from[d]];
      found[line * outLine + i * stride] = sum;
    }
  }
  return found;
}
