/** What was chosen on the way to a release; kept in the tab, so that reloading loses nothing. */
import type { Columns, Inspection, Place, Source, Wanted } from "./api";

export interface Picture {
  upload: string;
  name: string;
  width: number;
  height: number;
}

export interface Draft {
  source: (Source & { name: string }) | null;
  inspection: Inspection | null;
  columns: Columns | null;
  place: Place | null;
  picture: Picture | null;
  epsilon: string;
  users: number;
  population: string;
  title: string;
}

const NAME = "dpheatmap-draft";
const EMPTY: Draft = {
  source: null,
  inspection: null,
  columns: null,
  place: null,
  picture: null,
  epsilon: "1",
  users: 5000,
  population: "",
  title: "",
};

export const draft: Draft = { ...EMPTY, ...stored() };

function stored(): Partial<Draft> {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? "{}") as Partial<Draft>;
  } catch {
    return {};
  }
}

export function change(part: Partial<Draft>): void {
  Object.assign(draft, part);
  sessionStorage.setItem(NAME, JSON.stringify(draft));
}

/** A new map. Of another file it is asked anew whom it is about: charges to the wrong people can't be taken back. */
export function begin(): void {
  change({ ...EMPTY, epsilon: draft.epsilon });
}

export function columnsComplete({ columns }: Draft): boolean {
  if (!columns?.x || !columns.y || !(columns.user || columns.each_row_is_a_person)) return false;
  const used = [columns.x, columns.y, ...(columns.user ? [columns.user] : [])];
  return new Set(used).size === used.length;
}

/** The table as the server is told it. */
export function sourceOf({ source }: Draft): Source | null {
  return source && (source.upload ? { upload: source.upload } : { path: source.path ?? "" });
}

/** What is asked of the server for all that was chosen; null while something is missing. */
export function wanted(population: string, place = draft.place): Wanted | null {
  const { columns, picture, epsilon, title } = draft;
  const source = sourceOf(draft);
  if (!source || !columns || !place || !columnsComplete(draft)) return null;
  return { source, columns, place, picture: picture?.upload ?? null, epsilon, population, title };
}
