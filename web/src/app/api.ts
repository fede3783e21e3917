/** What the page asks the server: `dpheatmap.app.endpoints` in Python answers. */
import type { AreasData, Basemap, MapData } from "../data";
import { shown } from "./key";
import type { Look } from "./look";
import { t } from "./texts";

export type Place =
  | { kind: "bbox"; bounds: [number, number, number, number]; resolution?: number }
  | { kind: "image"; size: [number, number] }
  | { kind: "unit" };

export interface Source {
  upload?: string;
  path?: string;
}

export interface Columns {
  user: string | null;
  x: string;
  y: string;
  weight: string | null;
  each_row_is_a_person?: boolean;
}

export interface Inspection {
  name: string;
  columns: Record<string, string>;
  guesses: Record<"user" | "x" | "y", string[]>;
  problems: string[];
  unfit_for_ids: string[];
  private: { rows: number; columns: Record<string, Record<string, number | null>>; hints: string[] };
}

/** Maps over time, of groups, or both, as `release` takes them; what is missing was not given. */
export interface Slices {
  time?: string;
  every?: string;
  time_zone?: string;
  start?: string;
  end?: string;
  group?: string;
  groups?: string[];
}

/** The fields that slices are refused at. */
export type SliceField = "time" | "every" | "time_zone" | "range" | "group" | "groups" | "number";

/** What slices are, or which field is refused and why. */
export interface SliceFacts {
  problem: { field: SliceField; words: string } | null;
  words?: string;
  notes?: string[];
}

/** What is publicly known of a box. */
export interface PlaceFacts {
  town: string;
  words: string;
  warnings: string[];
}

export interface Plan {
  epsilon: string;
  /** A stronger one, itself, and a weaker one, to look at side by side. */
  beside: [string, string, string];
  odds: string;
  chance: number;
  caution: string | null;
  advice: string;
  error: string;
  /** What slices cost and show; nothing for one map. */
  slices: string[];
}

export interface Preview {
  truth: string;
  shown: string;
  sure: number | null;
}

export interface Population {
  population: string;
  limit: string | null;
  /** The number of the limit: an epsilon or a rho. */
  whole: string | null;
  spent: string;
  /** The largest epsilon that fits. */
  left: string | null;
  /** What was spent and what fits, in words, where the limit is not of epsilon alone. */
  words: string | null;
  history: [made: string, spent: number][];
}

export interface Budget {
  ledger: string;
  populations: Population[];
}

/** An entry of the ledger, and what it bought, as far as the app knows. */
export interface Entry {
  number: number;
  made: string;
  population: string;
  epsilon: string;
  kind: string;
  /** What it is, if it bought nothing. */
  note: string;
  bought: string;
  id: string | null;
}

export type Phase = "waiting" | "reading" | "charging" | "drawing" | "done" | "failed" | "cancelled" | "stopped" | "lost";

export interface Release {
  id: string;
  kind: "map" | "place";
  state: Phase;
  made: string;
  file: string;
  wanted: { columns: Columns; place: Place; epsilon: string; population: string; slices?: Slices };
  message: string;
  result: { place?: Place; words?: string };
  title: string;
  sigma: number | null;
  look: Look;
  /** The town that its place is called by; empty if it is not on the ground. */
  town: string;
  /** How many maps there are and what of; empty for one. */
  slices: string;
  part?: number;
  /** Which slice is being drawn, and of how many. */
  drawn?: [number: number, of: number] | null;
  private?: Record<string, number> | null;
  repeated?: boolean;
}

export interface Wanted {
  source: Source;
  columns: Columns;
  place: Place;
  picture: string | null;
  slices: Slices | null;
  epsilon: string;
  population: string;
  title?: string;
  after?: string;
}

/** A map, and whether any place stands out from the noise. */
export type AppMap = MapData & { stands_out: boolean };

/** The people in areas: what stands out, and a layer of the map. */
export interface CountedAreas {
  takeaway: string;
  layer: AreasData;
}

export interface About {
  formats: { suffix: string; refusal: string }[];
  sigma: { default: number; least: number; most: number; unit: string };
  command: string;
  python: string;
}

/** What the server said instead of an answer: a sentence for people. */
export class Refusal extends Error {}

async function answered(path: string, request: RequestInit): Promise<Response> {
  return fetch(path, request).catch(() => {
    request.signal?.throwIfAborted();
    throw new Refusal(t.shell.offline);
  });
}

/** Text that the browser must not fetch by itself: it would not show the key. */
async function text(path: string): Promise<string> {
  const response = await answered(path, { headers: [shown()] });
  if (!response.ok) throw new Refusal(t.shell.offline);
  return response.text();
}

async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers = new Headers([shown()]);
  const request: RequestInit = { method, headers, signal: signal ?? null };
  if (body !== undefined) {
    request.body = JSON.stringify(body);
    headers.set("Content-Type", "application/json");
  }
  const response = await answered(path, request);
  const answer: unknown = await response.json().catch(() => ({}));
  signal?.throwIfAborted();
  if (!response.ok) throw new Refusal((answer as { error?: string }).error ?? t.shell.offline);
  return answer as T;
}

const one = (id: string) => `/api/releases/${encodeURIComponent(id)}`;
const smoothed = (sigma: number | null) => (sigma === null ? "" : `?sigma=${sigma}`);

export const api = {
  start: () => ask<{ version: string; upload_limit: number; notices: Release[] }>("GET", "/api/start"),
  inspect: (source: Source) => ask<Inspection>("POST", "/api/inspect", source),
  forget: (upload: string) => ask<object>("DELETE", `/api/uploads/${upload}`),
  picture: (upload: string) => ask<{ width: number; height: number }>("GET", `/api/uploads/${upload}/picture`),
  basemap: (bounds: number[]) => ask<Basemap>("GET", `/api/basemap?bounds=${bounds.join(",")}`),
  towns: (name: string) =>
    ask<{ name: string; near: string; lon: number; lat: number }[]>("GET", `/api/towns?name=${encodeURIComponent(name)}`),
  place: (bounds: number[]) => ask<PlaceFacts>("GET", `/api/place?bounds=${bounds.join(",")}`),
  plan: (place: Place, epsilon: string, users: number, slices: Slices | null) => ask<Plan>("POST", "/api/plan", { place, epsilon, users, slices }),
  slices: (slices: Slices, types: Record<string, string>) => ask<SliceFacts>("POST", "/api/slices", { slices, types }),
  preview: (place: Place, epsilon: string, users: number, slices: Slices | null, signal: AbortSignal) =>
    ask<Preview>("POST", "/api/preview", { place, epsilon, users, slices }, signal),
  example: () => ask<{ upload: string; name: string; place: Place; users: number }>("POST", "/api/example"),
  budget: () => ask<Budget>("GET", "/api/budget"),
  limit: (population: string, epsilon: string) => ask<Budget>("POST", "/api/limit", { population, epsilon }),
  entries: () => ask<Entry[]>("GET", "/api/ledger"),
  verify: () => ask<{ words: string }>("POST", "/api/ledger/verify"),
  exported: () => text("/api/ledger/export"),
  settings: () => ask<{ publisher: string }>("GET", "/api/settings"),
  publish: (publisher: string) => ask<{ publisher: string }>("POST", "/api/settings", { publisher }),
  charged: (source: Source) => ask<{ populations: string[] }>("POST", "/api/charged", source),
  releases: () => ask<Release[]>("GET", "/api/releases"),
  release: (wanted: Wanted) => ask<Release>("POST", "/api/releases", wanted),
  discover: (wanted: Wanted) => ask<Release>("POST", "/api/discover", wanted),
  state: (id: string) => ask<Release>("GET", one(id)),
  cancel: (id: string) => ask<Release>("POST", `${one(id)}/cancel`),
  change: (id: string, appearance: { title: string; sigma: number | null; look: Look }) => ask<Release>("PATCH", one(id), appearance),
  remove: (id: string) => ask<object>("DELETE", one(id)),
  restore: (id: string) => ask<Release>("POST", `${one(id)}/restore`),
  map: (id: string, sigma: number | null) => ask<AppMap>("GET", `${one(id)}/map${smoothed(sigma)}`),
  about: (id: string, sigma: number | null) => ask<About>("GET", `${one(id)}/about${smoothed(sigma)}`),
  beside: (first: string, second: string) => ask<[MapData, MapData]>("GET", `${one(first)}/beside/${second}`),
  minus: (after: string, before: string) => ask<MapData>("GET", `${one(after)}/minus/${before}`),
  file: (id: string, suffix: string, sigma: number | null) => `${one(id)}/file/${suffix}${suffix === ".dph.parquet" ? "" : smoothed(sigma)}`,
  areas: (id: string, upload: string) => ask<CountedAreas>("GET", `${one(id)}/areas/${upload}`),
  fileOfAreas: (id: string, upload: string, suffix: string) => `${one(id)}/areas/${upload}/file/${suffix}`,
  thumbnail: (id: string) => `${one(id)}/thumbnail`,
};

/** Send a file as it is, and tell how much of it has gone; what stops it part way leaves nothing on the server. */
export function upload(file: File, progress: (part: number) => void, stop?: AbortSignal): Promise<{ upload: string; name: string }> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `/api/uploads?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader(...shown());
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => progress(event.total ? event.loaded / event.total : 0));
    request.addEventListener("load", () => {
      if (request.status === 200) resolve(request.response as { upload: string; name: string });
      else reject(new Refusal((request.response as { error?: string } | null)?.error ?? t.shell.offline));
    });
    request.addEventListener("error", () => reject(new Refusal(t.shell.offline)));
    stop?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
