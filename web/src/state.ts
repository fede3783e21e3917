/** What a reader can choose, and what is seen at first. */
import type { MapData } from "./data";

export type ThemeChoice = "auto" | "light" | "dark";

/** The middle of what is seen, and how near it is. */
export interface View {
  lng: number;
  lat: number;
  zoom: number;
}

export interface State {
  show: "heat" | "sure" | "areas";
  theme: ThemeChoice;
  /** A gradient instead of bands. */
  smooth: boolean;
  /** Null: the whole map. */
  view: View | null;
  /** The name of a slice of a series; null: there is one map. */
  slice: string | null;
}

export function startOf({ colours, style, areas, series }: Pick<MapData, "colours" | "style" | "areas" | "series">): State {
  const slice = series?.slices[0].name ?? null;
  return { show: areas ? "areas" : "heat", theme: colours ?? "auto", smooth: style === "smooth", view: null, slice };
}

export function isDark(theme: ThemeChoice): boolean {
  return theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}
