/** What was chosen on the way to a release; kept in the tab, so that reloading loses nothing. */
import type { Columns, Inspection, Place, Slices, Source, Wanted } from "./api";

export interface Picture {
  upload: string;
  name: string;
  width: number;
  height: number;
}

/** What was typed about slices; `kind` tells which of it counts. */
export interface AxisForm {
  kind: "one" | "time" | "group" | "both";
  time: string;
  every: string;
  hours: string;
  zone: string;
  from: string;
  fromTime: string;
  to: string;
  toTime: string;
  group: string;
  groups: string;
  /** What the server said of it. */
  words: string;
}

export interface Draft {
  source: (Source & { name: string }) | null;
  inspection: Inspection | null;
  columns: Columns | null;
  place: Place | null;
  picture: Picture | null;
  axis: AxisForm;
  epsilon: string;
  users: number;
  population: string;
  title: string;
}

const NAME = "dpheatmap-draft";
const ONE_MAP: AxisForm = { kind: "one", time: "", every: "", hours: "", zone: "", from: "", fromTime: "", to: "", toTime: "", group: "", groups: "", words: "" };
const EMPTY: Draft = {
  source: null,
  inspection: null,
  columns: null,
  place: null,
  picture: null,
  axis: ONE_MAP,
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

/** The slices as the server is told them; null for one map. */
export function slicesOf({ axis }: Pick<Draft, "axis">): Slices | null {
  if (axis.kind === "one") return null;
  const found: Slices = {};
  const put = (name: Exclude<keyof Slices, "groups">, value: string): void => void (value && (found[name] = value));
  if (axis.kind !== "group") {
    put("time", axis.time);
    put("every", axis.every === "hours" ? `${Number(axis.hours)} hours` : axis.every);
    put("time_zone", axis.zone.trim());
    put("start", momentOf(axis.from, axis.fromTime));
    put("end", momentOf(axis.to, axis.toTime));
  }
  if (axis.kind !== "time") {
    put("group", axis.group);
    const names = axis.groups.split("\n").map((name) => name.trim()).filter(Boolean);
    if (names.length) found.groups = names;
  }
  return found;
}

/** A day, or a time on it. */
const momentOf = (day: string, time: string): string => (day && time ? `${day}T${time}` : day);

/** The table as the server is told it. */
export function sourceOf({ source }: Draft): Source | null {
  return source && (source.upload ? { upload: source.upload } : { path: source.path ?? "" });
}

/** What is asked of the server for all that was chosen; null while something is missing. */
export function wanted(population: string, place = draft.place): Wanted | null {
  const { columns, picture, epsilon, title } = draft;
  const source = sourceOf(draft);
  if (!source || !columns || !place || !columnsComplete(draft)) return null;
  return { source, columns, place, picture: picture?.upload ?? null, slices: slicesOf(draft), epsilon, population, title };
}
