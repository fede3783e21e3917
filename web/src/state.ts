import type { MapData } from "./data";
import type { Kind } from "./scale";

export type Theme = "auto" | "light" | "dark";

/** What a reader can choose. */
export interface State {
  layer: "values" | "std";
  axis: Kind;
  colours: number;
  opacity: number;
  grey: boolean;
  fade: boolean;
  theme: Theme;
}

/**
 * What is shown at first: what is within the noise is grey, as on every picture; heat over a picture or over tiles lets
 * them through where it is cold.
 */
export function startOf(data: MapData): State {
  const fade = data.background !== null || data.tiles !== null;
  return { layer: "values", axis: "linear", colours: 0, opacity: 0.85, grey: true, fade, theme: "auto" };
}

export function isDark(theme: Theme): boolean {
  return theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}
