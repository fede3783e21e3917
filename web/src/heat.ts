/** The heat on a canvas: as much of it as is seen, as sharp as the screen. */
import type { Areas } from "./areas";
import type { Grid, MapData } from "./data";
import { refined, valueAt } from "./grid";
import { type Ink, INKS, SURE } from "./inks";
import type { Outline } from "./outline";
import { paint, type Paint, rgbOf } from "./paint";
import { type Part, WHOLE } from "./place";
import type { State } from "./state";
import type { DrawWater } from "./water";

const SUREST = 50; // more makes no difference to a reader
const MOST = 2048; // pixels of the canvas's longer side
const LEAST = 64;
const MARGIN = 0.5; // of the window's size, painted around it when it shows a part of the map
const [LINES_APART, LINES_WIDE] = [13, 1]; // pixels of the screen, of a map without signal

/** Where "how sure" has its bands: values known to about themselves, half, a quarter and a tenth. */
export const SURE_EDGES = [1, 2, 4, 10];
export const SURE_OPACITY = 0.9;

export interface Fields {
  values: Grid;
  low: Grid | null;
  high: Grid | null;
  clarity: Grid | null;
}

/** What a map shows now: a part of the heat, and how wide the whole of it is in pixels of the screen. */
export interface Seen {
  part: Part;
  wide: number;
  high: number;
}

export class Heat {
  readonly canvas = document.createElement("canvas");
  /** What is on the canvas. */
  part: Part = WHOLE;
  private painted = 0; // the width of the whole heat, in pixels of the screen, when it was painted
  private clarity: Grid | null;
  private knownSureness: Grid | null | undefined;
  private readonly extents = new Map<number, Part>();

  constructor(
    private data: MapData,
    private fields: Fields,
    private readonly water: DrawWater | null,
    private readonly outline: Outline | null,
    private readonly areas: Areas | null,
  ) {
    this.clarity = fields.clarity && refined(fields.clarity);
  }

  /** Another map of the same place, to be painted next. */
  take(data: MapData, fields: Fields): void {
    this.data = data;
    this.fields = fields;
    this.clarity = fields.clarity && refined(fields.clarity);
    this.knownSureness = undefined;
    this.extents.clear();
  }

  private get sureness(): Grid | null {
    return (this.knownSureness ??= surenessOf(this.data, this.fields));
  }

  /** Whether what is seen would look better if it were painted anew. */
  isStale({ part, wide }: Seen): boolean {
    const { x0, y0, x1, y1 } = this.part;
    const covered = x0 <= Math.max(part.x0, 0) && y0 <= Math.max(part.y0, 0) && x1 >= Math.min(part.x1, 1) && y1 >= Math.min(part.y1, 1);
    return !covered || Math.abs(Math.log2(wide / this.painted)) > 0.3;
  }

  paint(state: Pick<State, "show" | "smooth">, ink: Ink, seen: Seen, ratio: number): void {
    const { part, width, height, pixel } = framed(seen, ratio);
    this.part = part;
    this.painted = seen.wide;
    [this.canvas.width, this.canvas.height] = [width, height];
    const context = this.canvas.getContext("2d");
    if (!context) return;
    if (state.show === "areas" && this.areas) {
      this.areas.paint(context, part, ink, pixel);
    } else if (this.data.nothing) {
      this.rule(context, part, pixel, ink);
    } else {
      const image = context.createImageData(width, height);
      paint(image, part, this.look(state, ink, pixel));
      context.putImageData(image, 0, 0);
    }
    this.outline?.clip(context, part);
    if (!this.data.nothing || state.show === "areas") this.water?.(this.canvas, part, INKS[ink].water);
  }

  /** Whether something was counted at fractions of the width and the height. */
  holds(x: number, y: number): boolean {
    return x >= 0 && x <= 1 && y >= 0 && y <= 1 && (this.outline?.holds(x, y) ?? true);
  }

  /** What is known at fractions of the width and the height. */
  read(x: number, y: number): { value: number; low: number | null; high: number | null; clarity: number } {
    const { values, low, high } = this.fields;
    const value = valueAt(values, x, y, this.data.smooth);
    const end = (grid: Grid | null) => grid && valueAt(grid, x, y) * (this.data.signed ? 1 : value);
    return { value, low: end(low), high: end(high), clarity: this.clarity ? valueAt(this.clarity, x, y) : Infinity };
  }

  /** Where all but some of what is painted lies; the whole where nothing is. */
  extent(left: number): Part {
    const known = this.extents.get(left) ?? this.findExtent(left);
    this.extents.set(left, known);
    return known;
  }

  private findExtent(left: number): Part {
    const { values, rows, columns } = this.fields.values;
    const [across, down] = [new Float64Array(columns), new Float64Array(rows)];
    for (let i = 0, row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++, i++) {
        const size = Math.abs(values[i]);
        if (!(size >= this.data.edges[0]) || !this.holds((column + 0.5) / columns, (row + 0.5) / rows)) continue;
        if (this.clarity && valueAt(this.clarity, (column + 0.5) / columns, (row + 0.5) / rows) < 1) continue;
        across[column] += size;
        down[row] += size;
      }
    }
    const [x, y] = [between(across, left), between(down, left)];
    return x && y ? { x0: x[0], y0: y[0], x1: x[1], y1: y[1] } : WHOLE;
  }

  private look({ show, smooth }: Pick<State, "show" | "smooth">, ink: Ink, pixel: number): Paint {
    const { edges, signed, hatch, top } = this.data;
    const theme = ink === "dark" ? this.data.dark : this.data.light;
    if (show === "sure" && this.sureness) {
      const bands = SURE[ink].map(rgbOf);
      return { values: this.sureness, smooth: true, edges: SURE_EDGES, bands, fewer: [], opacity: bands.map(() => SURE_OPACITY), gradient: null, clarity: this.clarity, hatch: null };
    }
    return {
      values: this.fields.values,
      smooth: this.data.smooth,
      edges,
      bands: theme.bands.map(rgbOf),
      fewer: theme.fewer.map(rgbOf),
      opacity: theme.opacity,
      gradient: smooth ? top : null,
      clarity: this.clarity,
      hatch: hatch && !signed ? pixel : null,
    };
  }

  /** Thin lines where nothing can be told. */
  private rule(context: CanvasRenderingContext2D, part: Part, pixel: number, ink: Ink): void {
    const { width, height } = this.canvas;
    const apart = LINES_APART * pixel * Math.SQRT2;
    const start = ((part.x0 * width) / (part.x1 - part.x0) + (part.y0 * height) / (part.y1 - part.y0)) % apart;
    context.strokeStyle = INKS[ink].box;
    context.globalAlpha = 0.5;
    context.lineWidth = LINES_WIDE * pixel;
    context.beginPath();
    for (let sum = -start; sum < width + height; sum += apart) {
      context.moveTo(sum, 0);
      context.lineTo(sum - height, height);
    }
    context.stroke();
  }
}

/** How many times half of its range a value is; null where ranges are not known. */
export function surenessOf({ signed, smooth }: Pick<MapData, "signed" | "smooth">, { values, low, high }: Fields): Grid | null {
  if (!low || !high) return null;
  const { rows, columns } = low;
  const sure = low.values.map((end, i) => {
    const value = signed ? Math.abs(valueAt(values, ((i % columns) + 0.5) / columns, (Math.floor(i / columns) + 0.5) / rows, smooth)) : 1;
    return Math.min((2 * value) / Math.max(high.values[i] - end, 1e-9), SUREST);
  });
  return refined({ values: sure, rows, columns });
}

/** The part to paint, the size of its picture, and how many of its pixels a pixel of the screen is. */
export function framed({ part, wide, high }: Seen, ratio: number): { part: Part; width: number; height: number; pixel: number } {
  const whole = Math.max(wide, high) * ratio <= MOST;
  const clip = (at: number) => Math.min(Math.max(at, 0), 1);
  const margin = [MARGIN * (part.x1 - part.x0), MARGIN * (part.y1 - part.y0)];
  let chosen = whole
    ? WHOLE
    : { x0: clip(part.x0 - margin[0]), y0: clip(part.y0 - margin[1]), x1: clip(part.x1 + margin[0]), y1: clip(part.y1 + margin[1]) };
  if (!(chosen.x1 > chosen.x0 && chosen.y1 > chosen.y0)) chosen = WHOLE; // none of it is seen
  const [width, height] = [(chosen.x1 - chosen.x0) * wide * ratio, (chosen.y1 - chosen.y0) * high * ratio];
  const scale = Math.min(1, MOST / Math.max(width, height)) * Math.max(1, LEAST / Math.max(width, height));
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { part: chosen, width: side(width), height: side(height), pixel: ratio * scale };
}

/** Between which fractions of a line all but some of its sum lies. */
function between(line: Float64Array, left: number): [number, number] | null {
  const total = line.reduce((sum, value) => sum + value, 0);
  if (!(total > 0)) return null;
  let [first, last] = [0, line.length - 1];
  for (let sum = line[first]; sum <= (left / 2) * total; sum += line[first]) first++;
  for (let sum = line[last]; sum <= (left / 2) * total; sum += line[last]) last--;
  return [first / line.length, (last + 1) / line.length];
}
