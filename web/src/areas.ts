/** Areas on the map: filled by their bands, with their borders, and their numbers as a table. */
import { type AreaData, type AreasData, type MapData, pointsOf } from "./data";
import { button, el } from "./dom";
import { type Ink, INKS } from "./inks";
import type { Part } from "./place";

const STEPS = 100_000; // of the heat's width and height
const [PERIOD, STRIPE] = [5, 2.1]; // of the hatch of rough areas, in pixels of the screen

interface Shape extends AreaData {
  path: Path2D;
  size: number;
  middle: [x: number, y: number];
}

export class Areas {
  /** Large ones first, so that small ones lie over them. */
  private readonly shapes: Shape[];
  private readonly upmost: Shape[];
  private readonly test = document.createElement("canvas").getContext("2d");

  constructor(readonly data: AreasData) {
    this.shapes = data.areas.map(shapeOf).sort((a, b) => b.size - a.size);
    this.upmost = [...this.shapes].reverse();
  }

  /** The area at fractions of the heat's width and height. */
  at(x: number, y: number): AreaData | null {
    return this.upmost.find(({ path }) => this.test?.isPointInPath(path, x, y)) ?? null;
  }

  /** The middle of an area, in fractions of the heat's width and height. */
  middleOf(area: AreaData): [x: number, y: number] {
    return this.shapes.find(({ name }) => name === area.name)?.middle ?? [0.5, 0.5];
  }

  /** Fill what a canvas shows of a part of the heat; `pixel` is the width of a pixel of the screen on it. */
  paint(context: CanvasRenderingContext2D, part: Part, ink: Ink, pixel: number): void {
    const { width, height } = context.canvas;
    const [wide, high] = [width / (part.x1 - part.x0), height / (part.y1 - part.y0)];
    const theme = ink === "dark" ? this.data.dark : this.data.light;
    const hatch = hatchOf(INKS[ink].land, pixel);
    for (const { path, band, rough } of this.shapes) {
      if (band < 0) continue;
      const placed = new Path2D();
      placed.addPath(path, new DOMMatrix([wide, 0, 0, high, -part.x0 * wide, -part.y0 * high]));
      context.globalAlpha = theme.opacity[band];
      context.fillStyle = theme.bands[band];
      context.fill(placed, "nonzero");
      context.globalAlpha = 0.9;
      if (rough && hatch) {
        context.fillStyle = context.createPattern(hatch, "repeat") ?? "transparent";
        context.fill(placed, "nonzero");
      }
    }
    context.globalAlpha = 1;
    for (const painted of [false, true]) {
      context.strokeStyle = painted ? INKS[ink].page : INKS[ink].faint;
      context.lineWidth = (painted ? 1.3 : 1) * pixel;
      for (const { path, band } of this.shapes) {
        if (band >= 0 !== painted) continue;
        const placed = new Path2D();
        placed.addPath(path, new DOMMatrix([wide, 0, 0, high, -part.x0 * wide, -part.y0 * high]));
        context.stroke(placed);
      }
    }
  }
}

function shapeOf(area: AreaData): Shape {
  const path = new Path2D();
  let size = 0;
  let [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
  for (const steps of area.rings) {
    const ring = pointsOf(steps, STEPS);
    ring.forEach(([x, y], i) => {
      if (i) {
        path.lineTo(x, y);
        size += (ring[i - 1][0] + x) * (y - ring[i - 1][1]);
      } else path.moveTo(x, y);
      low = [Math.min(low[0], x), Math.min(low[1], y)];
      high = [Math.max(high[0], x), Math.max(high[1], y)];
    });
    path.closePath();
  }
  return { ...area, path, size: Math.abs(size), middle: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2] };
}

/** A tile of stripes. */
function hatchOf(colour: string, pixel: number): HTMLCanvasElement | null {
  const side = Math.max(4, Math.round(PERIOD * pixel * Math.SQRT2));
  const tile = el("canvas", { width: String(side), height: String(side) });
  const context = tile.getContext("2d");
  if (!context) return null;
  context.strokeStyle = colour;
  context.lineWidth = STRIPE * pixel;
  for (const shift of [-side, 0, side]) {
    context.beginPath();
    context.moveTo(shift, side);
    context.lineTo(shift + side, 0);
    context.stroke();
  }
  return tile;
}

/** All areas by rank, as a table. */
export function areasTable({ areas, caption, counted }: AreasData, go: (area: AreaData) => void): HTMLElement {
  const row = (area: AreaData) =>
    el(
      "tr",
      {},
      el("td", { class: "rank" }, area.rank),
      el("th", { scope: "row" }, button(area.name, () => go(area), { class: "link" })),
      el("td", {}, area.range),
    );
  const heads = ["Rank", "Area", counted].map((head) => el("th", { scope: "col" }, head));
  return el("table", { class: "areas" }, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...areas.map(row)));
}

/** What a map says where its areas are shown. */
export function withAreas(data: MapData): MapData {
  if (!data.areas) return data;
  const { title, takeaway, facts, nothing, legend, edges, light, dark } = data.areas;
  return { ...data, title, takeaway, facts, nothing, legend, edges, light, dark };
}
