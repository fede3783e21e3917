/** The heat as a picture: bands with soft edges, bare where nothing can be told, hatched where it is rough. */
import type { Grid } from "./data";
import { type Steps, stepsOf } from "./grid";
import type { Part } from "./place";

export type Rgb = [number, number, number];

export interface Paint {
  values: Grid;
  /** Whether values between pixels are known. */
  smooth: boolean;
  edges: number[];
  bands: Rgb[];
  /** Of differences: the bands below zero. */
  fewer: Rgb[];
  opacity: number[];
  /** A gradient up to this value instead of bands. */
  gradient: number | null;
  /** Painted from 1 on; null: everywhere. */
  clarity: Grid | null;
  /** The width of a screen's pixel, in pixels of the picture: rough places, up to a clarity of 2, are hatched by it. */
  hatch: number | null;
}

const [PERIOD, STRIPE, CUT] = [5, 2.1, 0.92]; // of the hatch, in pixels of the screen

export function paint(image: ImageData, part: Part, look: Paint): void {
  const { width, height, data } = image;
  const field = new Line(look.values, part, width, height, look.smooth);
  const clarity = look.clarity && new Line(look.clarity, part, width, height, true);
  const colour = look.gradient === null ? banded(look) : graded(look, look.gradient);
  const out: [number, number, number, number] = [0, 0, 0, 0]; // the last is the opacity, which the others are multiplied by
  const [left, top] = [(part.x0 * width) / (part.x1 - part.x0), (part.y0 * height) / (part.y1 - part.y0)];
  for (let row = 0, i = 0; row < height; row++) {
    field.read(row);
    clarity?.read(row);
    for (let column = 0; column < width; column++, i += 4) {
      out[0] = out[1] = out[2] = out[3] = 0;
      colour(field.values[column], field.slopes[column], out);
      if (!(out[3] > 0)) continue;
      let shown = out[3];
      if (clarity) {
        const sure = clarity.values[column];
        const slope = clarity.slopes[column];
        shown *= cover(sure - 1, slope);
        if (look.hatch !== null && sure < 2 + slope) {
          shown *= 1 - CUT * cover(2 - sure, slope) * striped(left + column + top + row, look.hatch);
        }
      }
      data[i] = out[0] / out[3];
      data[i + 1] = out[1] / out[3];
      data[i + 2] = out[2] / out[3];
      data[i + 3] = 255 * shown;
    }
  }
}

/** How much of a pixel lies above an edge that is so far below it, where values rise by `slope` from pixel to pixel. */
export function cover(above: number, slope: number): number {
  if (slope === 0) return above >= 0 ? 1 : 0;
  const part = above / slope + 0.5;
  return part <= 0 ? 0 : part >= 1 ? 1 : part;
}

/** How much of a pixel a slanting stripe covers; `sum` is that of its row and column. */
function striped(sum: number, pixel: number): number {
  const period = PERIOD * pixel;
  const half = (STRIPE * pixel) / 2;
  const at = (sum / Math.SQRT2) % period;
  const away = Math.min(Math.abs(at - half), period - Math.abs(at - half));
  return Math.min(Math.max(half - away + 0.5, 0), 1);
}

type Colour = (value: number, slope: number, out: [number, number, number, number]) => void;

function banded({ edges, bands, fewer, opacity }: Paint): Colour {
  return (value, slope, out) => {
    const colours = value < 0 ? fewer : bands;
    const size = Math.abs(value);
    for (let band = 0; band < edges.length && band < colours.length; band++) {
      const part = cover(size - edges[band], slope);
      if (part === 0) return;
      mix(out, colours[band], opacity[band], part);
    }
  };
}

function graded({ edges, bands, fewer, opacity }: Paint, top: number): Colour {
  const [first, last] = [opacity[0], opacity[opacity.length - 1]];
  const between: Rgb = [0, 0, 0];
  return (value, _slope, out) => {
    const colours = value < 0 ? fewer : bands;
    const size = Math.abs(value);
    if (!colours.length || size <= 0.8 * edges[0]) return;
    const at = gradientAt(size, edges[0], top);
    const near = Math.min((size / edges[0] - 0.8) / 0.2, 1);
    const k = Math.min(Math.floor(at * (colours.length - 1)), Math.max(colours.length - 2, 0));
    const next = Math.min(k + 1, colours.length - 1);
    for (let c = 0; c < 3; c++) between[c] = colours[k][c] + (colours[next][c] - colours[k][c]) * (at * (colours.length - 1) - k);
    mix(out, between, near * near * (3 - 2 * near) * (first + (last - first) * Math.min(1, 1.25 * at)), 1);
  };
}

/** Where a value lies on a gradient, from 0 to 1, by ratios. */
export function gradientAt(value: number, first: number, top: number): number {
  if (!(top > first)) return 1;
  return Math.min(Math.max(Math.log(value / first) / Math.log(top / first), 0), 1);
}

function mix(out: [number, number, number, number], colour: Rgb, opacity: number, part: number): void {
  for (let c = 0; c < 3; c++) out[c] += (colour[c] * opacity - out[c]) * part;
  out[3] += (opacity - out[3]) * part;
}

/** A row of the picture: the values there, and how much they change from pixel to pixel. */
class Line {
  readonly values: Float32Array;
  readonly slopes: Float32Array;
  private readonly across: Steps;
  private readonly down: Steps;
  private readonly perColumn: number;
  private readonly perRow: number;

  constructor(private readonly grid: Grid, part: Part, width: number, height: number, private readonly smooth: boolean) {
    this.values = new Float32Array(width);
    this.slopes = new Float32Array(width);
    this.across = stepsOf(grid.columns, part.x0, part.x1, width, smooth);
    this.down = stepsOf(grid.rows, part.y0, part.y1, height, smooth);
    this.perColumn = (grid.columns * (part.x1 - part.x0)) / width;
    this.perRow = (grid.rows * (part.y1 - part.y0)) / height;
  }

  read(row: number): void {
    const { grid, across, down, values, slopes, smooth, perColumn, perRow } = this;
    const source = grid.values;
    const [right, below] = [grid.columns > 1 ? 1 : 0, grid.rows > 1 ? grid.columns : 0];
    const start = down.before[row] * grid.columns;
    const fy = down.part[row];
    for (let column = 0; column < values.length; column++) {
      const at = start + across.before[column];
      const fx = across.part[column];
      const a = source[at];
      const b = source[at + right];
      const c = source[at + below];
      const d = source[at + below + right];
      const upper = a + (b - a) * fx;
      const lower = c + (d - c) * fx;
      values[column] = upper + (lower - upper) * fy;
      slopes[column] = smooth
        ? Math.hypot(((b - a) * (1 - fy) + (d - c) * fy) * perColumn, (lower - upper) * perRow)
        : 0; // edges are sharp where values jump
    }
  }
}

export function rgbOf(hex: string): Rgb {
  const bits = parseInt(hex.slice(1), 16);
  return [bits >> 16, (bits >> 8) & 255, bits & 255];
}
