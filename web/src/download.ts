/** Files to take away: the map as it is seen, with its legend; and the heat as polygons. */
import type { MapData } from "./data";
import { drawColours } from "./legend";
import { edges } from "./place";
import { type Axis, position, roomyTicks, words } from "./scale";

const MOST_BLOCKS = 128; // of pixels along a side: a file that other programs open without pain

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Blocks of pixels as GeoJSON, each with its mean value.
 *
 * The standard deviation of a mean is at most the mean of the standard deviations, and that is what is written.
 */
export function geoJson(data: MapData, values: Float32Array, std: Float32Array | null): GeoJSON.FeatureCollection {
  const side = Math.max(1, Math.ceil(Math.max(data.rows, data.columns) / MOST_BLOCKS));
  const features: GeoJSON.Feature[] = [];
  for (let row = 0; row < data.rows; row += side) {
    for (let column = 0; column < data.columns; column += side) {
      const [height, width] = [Math.min(side, data.rows - row), Math.min(side, data.columns - column)];
      const mean = (layer: Float32Array) => meanOf(layer, data.columns, row, column, height, width);
      const properties: Record<string, number> = { value: mean(values) };
      if (std) properties.std_at_most = mean(std);
      const [x0, y0, x1, y1] = edges(data, row, column, height, width).map((edge) => Number(edge.toFixed(7)));
      // Anticlockwise on a map whose north is up, as the standard asks.
      const ring = [[x0, y0], [x0, y1], [x1, y1], [x1, y0], [x0, y0]];
      features.push({ type: "Feature", properties, geometry: { type: "Polygon", coordinates: [ring] } });
    }
  }
  const about = { unit: data.unit, title: data.title, facts: data.facts, warnings: data.warnings };
  return { type: "FeatureCollection", features, ...about } as GeoJSON.FeatureCollection;
}

function meanOf(layer: Float32Array, columns: number, row: number, column: number, height: number, width: number) {
  let sum = 0;
  for (let y = row; y < row + height; y++) {
    for (let x = column; x < column + width; x++) sum += layer[y * columns + x];
  }
  return Number((sum / (height * width)).toPrecision(6));
}

export interface Caption {
  title: string;
  name: string;
  axis: Axis;
  colours: Uint8Array;
  lines: string[];
}

/** The map's picture with a footer: title, colours, round values, and what was promised. */
export function pictureWithCaption(map: HTMLCanvasElement, caption: Caption): HTMLCanvasElement {
  const scale = Math.max(1, Math.round(window.devicePixelRatio));
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (!context) return map;
  const font = (size: number, weight = "400") => `${weight} ${size * scale}px system-ui, sans-serif`;
  const margin = 16 * scale;
  const width = Math.max(map.width, 360 * scale);
  context.font = font(12);
  const lines = caption.lines.flatMap((text) => wrapped(context, text, width - 2 * margin));
  canvas.width = width;
  canvas.height = map.height + (104 + 18 * lines.length) * scale;
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(map, 0, 0);
  context.fillStyle = "#1e1e26";
  const y = map.height;
  context.font = font(17, "600");
  context.fillText(caption.title, margin, y + 26 * scale);
  context.font = font(12);
  context.fillText(caption.name, margin, y + 46 * scale);
  const bar = document.createElement("canvas");
  [bar.width, bar.height] = [256, 1];
  drawColours(bar, caption.colours);
  const long = Math.min(320 * scale, width - 2 * margin);
  context.drawImage(bar, margin, y + 54 * scale, long, 12 * scale);
  for (const value of roomyTicks(caption.axis, long / scale)) {
    const at = position(caption.axis, value);
    const x = margin + long * at;
    context.fillRect(x - at * scale, y + 66 * scale, scale, 4 * scale);
    context.fillText(words(value), x - at * context.measureText(words(value)).width, y + 83 * scale);
  }
  lines.forEach((text, i) => context.fillText(text, margin, y + (104 + 18 * i) * scale));
  return canvas;
}

function wrapped(context: CanvasRenderingContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && context.measureText(longer).width > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
