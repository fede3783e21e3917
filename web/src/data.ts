/** What a page is given: written by `dpheatmap.render.web.page` in Python. Words are finished; numbers are in the legend's unit. */
export interface MapData {
  title: string;
  /** May be empty. */
  subtitle: string;
  /** What the map says, in one or two sentences; may be empty. */
  takeaway: string;
  /** Shown in a red bar across the top: "Not private: made with a seed, for tests only". */
  warnings: string[];
  /** "Private · ε = 1 per person". */
  badge: string;
  label: Section[];
  /** The small print, in sentences. */
  facts: string[];
  credits: string[];
  /** Only a "bbox" lies on the ground; everything else is a plane with coordinates of its own. */
  kind: string;
  /** Left, top, right and bottom on the Mercator square [0, 1] x [0, 1], rows downward; above 1 beyond the antimeridian. */
  place: [number, number, number, number];
  /** Rings around the place, as whole steps of 1/100,000 of its width and height, deflated. Null: all of the rectangle. */
  outline: string | null;
  /** The same edges in the domain's own coordinates: degrees, pixels, metres or fractions of the side. */
  bounds: [number, number, number, number];
  columns: number;
  rows: number;
  /** Whether values between pixels may be told from those around them. */
  smooth: boolean;
  /** Whether values are differences, some below zero. */
  signed: boolean;
  /** Of every so many people, how many per area. */
  values: Layer;
  /** Ends of 90 % ranges as factors of values; of differences the ends themselves. Null: not known. */
  low: Layer | null;
  high: Layer | null;
  /** Painted from 1 on, and from 2 on no longer rough. Null: all is clear. */
  clarity: Layer | null;
  /** Whether rough places are hatched. */
  hatch: boolean;
  /** Where bands start, ascending, at most six; the last band has no end. Empty if nothing is painted. */
  edges: number[];
  /** Where a gradient ends: at the largest value, or at the last edge of a series of maps. */
  top: number;
  light: Theme;
  dark: Theme;
  /** What a reader sees at first, who may choose otherwise; null: as the device. */
  colours: "light" | "dark" | null;
  style: "bands" | "smooth";
  legend: LegendWords;
  reading: ReadingWords;
  /** Of a map without signal: what is said across it. */
  nothing: Section | null;
  busiest: Busiest[];
  /** Areas with their numbers, deflated; what is shown at first. Null: none. */
  areas: AreasData | null;
  /** Maps of several times or groups. What each has of its own is missing above until one is chosen. Null: one map. */
  series?: SeriesData | null;
  basemap: string | null;
  background: string | null;
  tiles: { url: string; credit: string } | null;
  /** The user's own files. */
  context: ContextLayer[];
}

/** Several maps on one scale. */
export interface SeriesData {
  /** What tells slices apart: "Time". */
  of: string;
  /** The same in words: "by hour of the day, clocks of Europe/Zurich". */
  words: string;
  /** Whether the first slice follows the last. */
  loops: boolean;
  /** How many slices follow each other, before those of another group begin. */
  run: number;
  /** What stands under the chart of volumes. */
  caption: string;
  slices: SliceData[];
}

/** What a slice has of its own. */
export interface SliceData extends Pick<MapData, "takeaway" | "values" | "low" | "high" | "clarity" | "hatch" | "edges" | "legend" | "nothing" | "busiest"> {
  /** As in Python and in the address: "8". */
  name: string;
  /** As readers see it: "08:00". */
  label: string;
  volume: Volume;
}

/** How many people a slice has, and between which numbers 9 in 10 such ranges hold the truth. */
export interface Volume {
  people: number;
  low: number;
  high: number;
  /** "190 to 230 people". */
  words: string;
}

/** Areas on the map, by rank. */
export interface AreasData {
  title: string;
  takeaway: string;
  facts: string[];
  nothing: Section | null;
  legend: LegendWords;
  edges: number[];
  light: Theme;
  dark: Theme;
  /** What stands above their table. */
  caption: string;
  /** What their numbers are: "People". */
  counted: string;
  /** What is read where no area is. */
  none: string;
  areas: AreaData[];
}

export interface AreaData {
  name: string;
  /** "1", or "2–4" where it is not certain; empty where nothing can be told. */
  rank: string;
  /** "1,361–1,421", or why there is none. */
  range: string;
  /** The same in a sentence: "1,361 to 1,421 people". */
  words: string;
  /** The band of its density; -1: bare. */
  band: number;
  rough: boolean;
  /** As whole steps of 1/100,000 of the heat's width and height; holes run the other way round. */
  rings: number[][];
}

/** An array of 16-bit integers q, each the value `unit * sinh(step * q)`; deflated as two planes of bytes. */
export interface Layer {
  unit: number;
  step: number;
  data: string;
  rows: number;
  columns: number;
}

/** The colours of the bands on a light or on a dark ground. */
export interface Theme {
  /** "#RRGGBB"; of differences, the bands of more. */
  bands: string[];
  /** Of differences, the bands of fewer, from the smallest change on; else empty. */
  fewer: string[];
  opacity: number[];
  /** The same composed over land, for the legend. */
  swatches: string[];
  fewerSwatches: string[];
}

export interface LegendWords {
  title: string;
  short: string;
  /** What the first box, which is bare, is called: "under 1". */
  under: string;
  bare: string;
  /** Empty if nothing is hatched. */
  rough: string;
  outside: string;
  notes: string[];
  /** Of differences: "← Fewer at night". */
  less: string;
  more: string;
}

/** What is read at a point, with {lo}, {hi} or {v} to be filled in. */
export interface ReadingWords {
  range: string;
  bare: string;
  value: string;
  sure: string;
  outside: string;
  cantTell: string;
}

export interface Section {
  heading: string;
  text: string;
}

export interface Busiest {
  name: string;
  lon: number;
  lat: number;
  low: number;
  high: number;
}

export interface ContextLayer {
  name: string;
  kind: "water" | "park" | "land" | "road" | "rail" | "border" | "line" | "point";
  /** GeoJSON, deflated; properties are `name`, and `rank` of roads from 1 to 3. */
  data: string;
}

/** Lines are whole steps, the first from 0, 0: of 1/1000 degree all over the world, of 1/10000 in the window. */
export interface Basemap {
  /** Every land as its shore, followed by those of the inland seas in it. */
  land: number[][][];
  borders: number[][];
  cities: City[];
  /** Where `fine` replaces what `land` says; without `fine`, the coast there is not known well enough to be drawn. */
  window: [west: number, south: number, east: number, north: number] | null;
  fine: number[][][] | null;
  rivers: number[][];
}

export type City = [name: string, lon: number, lat: number, population: number];

/** Values on an even grid over the whole map. */
export interface Grid {
  values: Float32Array;
  rows: number;
  columns: number;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export async function inflate(base64: string): Promise<Uint8Array> {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function decodeLayer(layer: Layer): Promise<Grid> {
  const { rows, columns } = layer;
  return { values: undoDifferences(await inflate(layer.data), layer), rows, columns };
}

/** From low and high bytes of zigzag differences along both axes, modulo 2^16, back to values. */
export function undoDifferences(
  planes: Uint8Array,
  { unit, step, rows, columns }: Pick<Layer, "unit" | "step" | "rows" | "columns">,
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

export async function inflateJson<T>(deflated: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await inflate(deflated))) as T;
}

/** Longitudes and latitudes from whole steps, so many a degree. */
export function pointsOf(steps: number[], perDegree = 1000): [number, number][] {
  const points: [number, number][] = [];
  let x = 0;
  let y = 0;
  for (let i = 0; i < steps.length; i += 2) {
    points.push([(x += steps[i]) / perDegree, (y += steps[i + 1]) / perDegree]);
  }
  return points;
}
