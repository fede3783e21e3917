/** The map alone as a picture: what is seen, the scale bar, and what is said across a map without signal. */
import type { MapData } from "./data";
import { type Ink, INKS } from "./inks";
import { lineHeight, wrapped } from "./letters";

export interface Shot {
  data: MapData;
  ink: Ink;
  /** Of the screen. */
  width: number;
  height: number;
  ratio: number;
  scale: { text: string; width: number } | null;
}

/** A canvas with what is seen, in pixels of the screen times the ratio. */
export function snapshot(map: HTMLCanvasElement, shot: Shot): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(shot.width * shot.ratio), Math.round(shot.height * shot.ratio)];
  const context = canvas.getContext("2d");
  if (!context) return map;
  context.scale(shot.ratio, shot.ratio);
  context.drawImage(map, 0, 0, shot.width, shot.height);
  if (shot.scale) drawScale(context, shot, shot.scale);
  if (shot.data.nothing) drawCard(context, shot, shot.data.nothing);
  return canvas;
}

function drawScale(context: CanvasRenderingContext2D, { ink, height }: Shot, { text, width }: { text: string; width: number }): void {
  const { ink: colour, halo } = INKS[ink];
  const [x, y] = [18, height - 16];
  context.lineJoin = "round";
  context.font = "400 11px Inter, sans-serif";
  context.textAlign = "center";
  for (const [stroke, wide] of [[halo, 4], [colour, 1.3]] as const) {
    context.strokeStyle = stroke;
    context.lineWidth = wide;
    context.beginPath();
    context.moveTo(x, y - 5);
    context.lineTo(x, y);
    context.lineTo(x + width, y);
    context.lineTo(x + width, y - 5);
    context.stroke();
  }
  context.strokeStyle = halo;
  context.lineWidth = 3;
  context.strokeText(text, x + width / 2, y - 7);
  context.fillStyle = colour;
  context.fillText(text, x + width / 2, y - 7);
  context.textAlign = "left";
}

function drawCard(context: CanvasRenderingContext2D, { ink, width, height }: Shot, nothing: { heading: string; text: string }): void {
  const { page, ink: colour, soft } = INKS[ink];
  const [wide, margin] = [Math.min(440, width - 32), 22];
  const parts: [font: string, colour: string, text: string][] = [
    ["600 16px Inter, sans-serif", colour, nothing.heading],
    ["400 14px Inter, sans-serif", soft, nothing.text],
  ];
  const lines = parts.flatMap(([font, fill, text]) => {
    context.font = font;
    return wrapped(context, text, wide - 2 * margin).map((line) => ({ font, fill, line }));
  });
  const high = 2 * margin + lines.reduce((sum, { font }) => sum + lineHeight(font), 0);
  let [x, y] = [(width - wide) / 2, (height - high) / 2];
  context.fillStyle = page;
  context.shadowColor = "#0003";
  context.shadowBlur = 12;
  context.beginPath();
  context.roundRect(x, y, wide, high, 10);
  context.fill();
  context.shadowColor = "transparent";
  [x, y] = [x + margin, y + margin];
  for (const { font, fill, line } of lines) {
    context.font = font;
    context.fillStyle = fill;
    context.fillText(line, x, y + 0.75 * lineHeight(font));
    y += lineHeight(font);
  }
}
