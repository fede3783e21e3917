/** The whole map as one picture, in the order of every medium: title, takeaway, legend, map, small print, badge. */
import type { MapData } from "./data";
import { type Ink, INKS, type Inks } from "./inks";
import { SHIELD, TICK } from "./label";
import { type Box, isRoomy, type LegendParts, type Row } from "./legend";
import { lineHeight, wrapped } from "./letters";

const FAMILY = "Inter, sans-serif";
const [SIDE, TOP] = [20, 28];
const [FIRST, ROOMY, BAR, MOST_BAR] = [64, 88, 14, 420]; // pixels: the bare box's width, the bands' height, and all of them
const WARNING = "#B3261E";

/** `map` is its snapshot, `ratio` of whose pixels make one of the screen. */
export function pictureOf(data: MapData, legend: LegendParts, ink: Ink, map: HTMLCanvasElement, ratio: number): HTMLCanvasElement {
  const width = Math.max(map.width / ratio, 320) + 2 * SIDE;
  const measured = new Sheet(width, data, legend, ink);
  const height = measured.draw(map, ratio);
  const sheet = new Sheet(width, data, legend, ink, height, ratio);
  sheet.draw(map, ratio);
  return sheet.canvas;
}

class Sheet {
  readonly canvas = document.createElement("canvas");
  private readonly context: CanvasRenderingContext2D;
  private readonly inks: Inks;
  private y = TOP;

  constructor(private readonly width: number, private readonly data: MapData, private readonly legend: LegendParts, ink: Ink, height = 1, ratio = 1) {
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const context = this.canvas.getContext("2d");
    if (!context) throw new Error("This browser can't draw pictures.");
    this.context = context;
    this.inks = INKS[ink];
    context.scale(ratio, ratio);
    context.fillStyle = this.inks.page;
    context.fillRect(0, 0, width, height);
  }

  /** Everything, from top to bottom; tells how high it is. */
  draw(map: HTMLCanvasElement, ratio: number): number {
    const { data, legend, inks, context } = this;
    for (const warning of data.warnings) this.warn(warning);
    this.text(`600 26px ${FAMILY}`, inks.ink, data.title);
    if (data.subtitle) this.text(`400 15px ${FAMILY}`, inks.soft, data.subtitle);
    if (data.takeaway) {
      this.y += 6;
      this.text(`400 16px ${FAMILY}`, inks.ink, data.takeaway, Math.min(640, this.width - 2 * SIDE));
    }
    this.y += 14;
    if (legend.boxes.length && legend.less) this.sides();
    else if (legend.boxes.length) this.text(`600 13px ${FAMILY}`, inks.ink, legend.title);
    if (legend.boxes.length) this.bands(legend.boxes);
    if (legend.less) this.text(`400 12px ${FAMILY}`, inks.soft, legend.title);
    for (const row of legend.rows) this.row(row);
    this.y += 12;
    context.drawImage(map, SIDE, this.y, map.width / ratio, map.height / ratio);
    this.y += map.height / ratio + 14;
    this.foot();
    return this.y + 20;
  }

  private text(font: string, colour: string, text: string, width = this.width - 2 * SIDE): void {
    this.context.font = font;
    for (const line of wrapped(this.context, text, width)) {
      this.context.font = font;
      this.context.fillStyle = colour;
      this.context.fillText(line, SIDE, this.y + 0.75 * lineHeight(font));
      this.y += lineHeight(font) * (font.startsWith("600 26") ? 0.85 : 1);
    }
  }

  private warn(text: string): void {
    if (this.y === TOP) this.y = 0;
    this.context.fillStyle = WARNING;
    this.context.fillRect(0, this.y, this.width, 34);
    this.context.fillStyle = "#FFFFFF";
    this.context.font = `600 14px ${FAMILY}`;
    this.context.fillText(text, SIDE, this.y + 22);
    this.y += 34 + (text === this.data.warnings[this.data.warnings.length - 1] ? TOP - 8 : 0);
  }

  private get bar(): number {
    return Math.min(MOST_BAR, this.width - 2 * SIDE);
  }

  private sides(): void {
    const { context, legend, bar } = this;
    context.font = `600 13px ${FAMILY}`;
    context.fillStyle = this.inks.ink;
    context.fillText(legend.less, SIDE, this.y + 14);
    context.fillText(legend.more, SIDE + bar - context.measureText(legend.more).width, this.y + 14);
    this.y += 22;
  }

  private bands(boxes: Box[]): void {
    const { context, inks, legend, bar } = this;
    const bare = isRoomy(legend) ? ROOMY : FIRST;
    const each = (bar - bare) / (boxes.length - 1);
    let x = SIDE;
    const y = this.y + 4;
    const written: [text: string, x: number, centred: boolean][] = [];
    for (const { colours, tick, at } of boxes) {
      const wide = colours ? each : bare;
      if (colours) {
        const fill = context.createLinearGradient(x, 0, x + wide, 0);
        colours.forEach((colour, i) => fill.addColorStop(i, colour));
        context.fillStyle = fill;
        context.fillRect(x, y, wide, BAR);
        written.push([tick, at === "left" ? x : x + wide, true]);
      } else {
        this.bare(x, y, wide, BAR);
        written.push([legend.under, legend.less ? x + wide / 2 : x, Boolean(legend.less)]);
      }
      x += wide;
    }
    context.font = `400 12px ${FAMILY}`;
    for (const [text, at, centred] of written) {
      const mark = text !== legend.under;
      context.fillStyle = mark ? inks.ink : inks.soft;
      if (mark) context.fillRect(at - 0.5, y, 1, BAR + 4);
      context.fillText(text, at - (centred ? context.measureText(text).width / 2 : 0), y + BAR + 17);
    }
    this.y += BAR + 28;
  }

  private bare(x: number, y: number, wide: number, high: number): void {
    this.context.fillStyle = this.inks.land;
    this.context.fillRect(x, y, wide, high);
    this.context.strokeStyle = this.inks.faint;
    this.context.lineWidth = 1;
    this.context.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1);
  }

  private row({ swatch, text }: Row): void {
    const { context, inks } = this;
    const [x, y, wide, high] = [SIDE, this.y + 3, 22, 13];
    if (swatch === "bare" || swatch === "lines") this.bare(x, y, wide, high);
    if (swatch === "rough") {
      context.fillStyle = (this.legend.boxes[2] ?? this.legend.boxes[1])?.colours?.[0] ?? inks.land;
      context.fillRect(x, y, wide, high);
    }
    if (swatch === "rough" || swatch === "lines") {
      context.save();
      context.beginPath();
      context.rect(x, y, wide, high);
      context.clip();
      context.strokeStyle = swatch === "rough" ? inks.land : inks.box;
      context.lineWidth = swatch === "rough" ? 2.1 : 1;
      context.beginPath();
      for (let at = x; at < x + wide + high; at += 7) {
        context.moveTo(at, y);
        context.lineTo(at - high, y + high);
      }
      context.stroke();
      context.restore();
    }
    if (swatch === "outside") {
      context.strokeStyle = inks.box;
      context.lineWidth = 1;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(x, y + 7);
      context.lineTo(x + wide, y + 7);
      context.stroke();
      context.setLineDash([]);
    }
    context.font = `400 12px ${FAMILY}`;
    context.fillStyle = inks.soft;
    context.fillText(text, swatch === "none" ? x : x + wide + 8, y + 11);
    this.y += 21;
  }

  /** Small print on the left, the badge on the right, or below where there is no room beside. */
  private foot(): void {
    const { context, data, inks } = this;
    context.font = `600 12px ${FAMILY}`;
    const wide = context.measureText(data.badge).width + 38;
    const beside = this.width - 2 * SIDE - wide - 24;
    const start = this.y;
    const font = `400 11.5px ${FAMILY}`;
    const room = beside > 240 ? beside : this.width - 2 * SIDE;
    if (data.facts.length) this.text(font, inks.soft, data.facts.join(" "), room);
    this.text(font, inks.soft, [...data.credits, ...(data.tiles ? [data.tiles.credit] : [])].join(" · "), room);
    const [x, y] = beside > 240 ? [this.width - SIDE - wide, start] : [SIDE, this.y + 6];
    this.badge(x, y, wide);
    this.y = Math.max(this.y, y + 26);
  }

  private badge(x: number, y: number, wide: number): void {
    const { context, inks } = this;
    context.fillStyle = inks.badge;
    context.beginPath();
    context.roundRect(x, y, wide, 26, 13);
    context.fill();
    context.strokeStyle = context.fillStyle = inks.badgeInk;
    context.save();
    context.translate(x + 10, y + 6);
    context.lineWidth = 1.3;
    for (const path of [SHIELD, TICK]) context.stroke(new Path2D(path));
    context.restore();
    context.font = `600 12px ${FAMILY}`;
    context.fillText(this.data.badge, x + 28, y + 17.5);
  }
}
