/** Unpacks what a page carries. */
import { Areas } from "./areas";
import type { Context } from "./basemap";
import { type Basemap, inflateJson, type MapData } from "./data";
import { el } from "./dom";
import type { Fields } from "./heat";
import { Outline } from "./outline";
import { fieldsOf } from "./slices";

export interface Unpacked {
  fields: Fields;
  basemap: Basemap | null;
  outline: Outline | null;
  areas: Areas | null;
  background: HTMLCanvasElement | null;
  context: Context[];
}

export async function unpack(data: MapData): Promise<Unpacked> {
  const [fields, basemap, outline, background, context] = await Promise.all([
    fieldsOf(data),
    data.basemap ? inflateJson<Basemap>(data.basemap) : null,
    data.outline ? inflateJson<number[][]>(data.outline).then((steps) => new Outline(steps)) : null,
    data.background ? canvasOf(data.background) : null,
    Promise.all(data.context.map(async ({ name, kind, data: packed }) => ({ name, kind, features: await inflateJson<GeoJSON.FeatureCollection>(packed) }))),
    ...["400", "600"].map((weight) => document.fonts.load(`${weight} 16px Inter`).catch(() => [])),
  ]);
  return { fields, basemap, outline, areas: data.areas && new Areas(data.areas), background, context };
}

/** A picture that the page carries, as a canvas. */
async function canvasOf(url: string): Promise<HTMLCanvasElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = el("canvas", { width: String(image.naturalWidth), height: String(image.naturalHeight) });
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return canvas;
}
