/** What a page is given: written by `dpheatmap.render.web.page` in Python, where each field is explained. */
export interface MapData {
  title: string;
  kind: "bbox" | "image" | "unit";
  /** Left, top, right and bottom on the Mercator square [0, 1] x [0, 1], rows downward. */
  place: [number, number, number, number];
  /** The same edges in the domain's own coordinates: degrees, pixels or fractions of the side. */
  bounds: [number, number, number, number];
  columns: number;
  rows: number;
  /** Whether values between pixels may be told from those around them. */
  smooth: boolean;
  /** What a value is: "% of people per km²". */
  unit: string;
  /** Whether values are differences, with a scale about zero. */
  signed: boolean;
  /** The value at the end of the colour scale. */
  top: number;
  values: Layer;
  std: Layer | null;
  /** A bit a pixel, deflated: whether its value stands out of the noise; null if all do. */
  clear: string | null;
  /** What the others are: "within the noise". */
  quiet: string;
  /** A value below which noise is all there may be: marked in the legend. */
  noise: number | null;
  scales: Scale[];
  warnings: string[];
  facts: string[];
  label: Section[];
  credits: string[];
  basemap: string | null;
  background: string | null;
  tiles: { url: string; credit: string } | null;
}

/** An array of 16-bit integers q, each the value `unit * sinh(step * q)`; deflated as two planes of bytes. */
export interface Layer {
  unit: number;
  step: number;
  largest: number;
  data: string;
}

/** Colours from low to high, three bytes each. */
export interface Scale {
  name: string;
  colours: string;
}

/** A part of the privacy label. */
export interface Section {
  heading: string;
  text: string;
}

/** Coast and borders as whole steps of 1/1000 degree, each point but the first as a difference; places. */
export interface Basemap {
  /** Every land as its shore, followed by those of the inland seas in it. */
  land: number[][][];
  borders: number[][];
  cities: [name: string, lon: number, lat: number, population: number][];
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export async function inflate(base64: string): Promise<Uint8Array> {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function decodeLayer(layer: Layer, rows: number, columns: number): Promise<Float32Array> {
  return undoDifferences(await inflate(layer.data), rows, columns, layer);
}

/** From low and high bytes of zigzag differences along both axes, modulo 2^16, back to values. */
export function undoDifferences(
  planes: Uint8Array,
  rows: number,
  columns: number,
  { unit, step }: { unit: number; step: number },
): Float32Array {
  const count = rows * columns;
  if (planes.length !== 2 * count) throw new Error("The map's values are damaged.");
  const above = new Uint16Array(columns);
  const values = new Float32Array(count);
  for (let row = 0, i = 0; row < rows; row++) {
    let along = 0;
    for (let column = 0; column < columns; column++, i++) {
      const zigzag = planes[i] | (planes[count + i] << 8);
      along += (zigzag >>> 1) ^ -(zigzag & 1);
      above[column] += along;
      values[i] = unit * Math.sinh(step * ((above[column] << 16) >> 16));
    }
  }
  return values;
}

/** One byte a pixel, 0 or 1, from one bit a pixel, the highest first. */
export async function decodeBits(deflated: string, count: number): Promise<Uint8Array> {
  const packed = await inflate(deflated);
  return Uint8Array.from({ length: count }, (_, i) => (packed[i >> 3] >> (7 - (i & 7))) & 1);
}

export async function decodeBasemap(deflated: string): Promise<Basemap> {
  return JSON.parse(new TextDecoder().decode(await inflate(deflated))) as Basemap;
}

/** Longitudes and latitudes from whole steps. */
export function pointsOf(steps: number[]): [number, number][] {
  const points: [number, number][] = [];
  let x = 0;
  let y = 0;
  for (let i = 0; i < steps.length; i += 2) {
    points.push([(x += steps[i]) / 1000, (y += steps[i + 1]) / 1000]);
  }
  return points;
}
