/** The slices of a series: what each says, and which one follows. */
import { decodeLayer, type MapData, type SeriesData, type SliceData } from "./data";
import type { Fields } from "./heat";

const KEPT = 32; // slices that stay unpacked

/** Some steps on: around a series that loops, else up to its ends. */
export function stepped(at: number, by: number, { slices, loops }: Pick<SeriesData, "slices" | "loops">): number {
  const count = slices.length;
  return loops ? (((at + by) % count) + count) % count : Math.min(Math.max(at + by, 0), count - 1);
}

/** The number of the slice with a name; the first if there is none. */
export function numberOf({ slices }: Pick<SeriesData, "slices">, name: string | null): number {
  return Math.max(0, slices.findIndex((slice) => slice.name === name));
}

/** What the page says while a slice is shown. */
export function withSlice(data: MapData, number: number): MapData {
  const { series } = data;
  if (!series) return data;
  const { name: _name, label, volume: _volume, ...own } = series.slices[number];
  const subtitle = [`${label}, ${series.words}`, data.subtitle].filter(Boolean).join(" · ");
  return { ...data, ...own, subtitle };
}

/** Unpacks a map's numbers. */
export async function fieldsOf({ values, low, high, clarity }: Pick<SliceData, "values" | "low" | "high" | "clarity">): Promise<Fields> {
  const [found, ...known] = await Promise.all([decodeLayer(values), ...[low, high, clarity].map((layer) => layer && decodeLayer(layer))]);
  return { values: found, low: known[0], high: known[1], clarity: known[2] };
}

/** The slices of a page, each unpacked when it is asked for. */
export class Slices {
  private readonly kept = new Map<number, Promise<Fields>>();

  constructor(private readonly data: MapData, private readonly series: SeriesData) {}

  /** What a reader may choose is what a slice with signal offers, if there is one. */
  get fullest(): MapData {
    return this.dataOf(Math.max(0, this.series.slices.findIndex(({ nothing }) => !nothing)));
  }

  numberOf(name: string | null): number {
    return numberOf(this.series, name);
  }

  dataOf(number: number): MapData {
    return withSlice(this.data, number);
  }

  fieldsOf(number: number): Promise<Fields> {
    const found = this.kept.get(number) ?? fieldsOf(this.series.slices[number]);
    this.kept.delete(number);
    this.kept.set(number, found);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(oldest);
    }
    return found;
  }
}
