/** What is seen as a part of the page's address, after #, so that a link shows the same. */
import type { State, ThemeChoice } from "./state";

const DIGITS = 5; // of a degree: a metre

const THEMES: ThemeChoice[] = ["auto", "light", "dark"];
const SHOWN: State["show"][] = ["heat", "sure", "areas"];

/** What an address asks for; what it does not mention is as at the start. */
export function stateOf(hash: string, start: State): State {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const theme = THEMES.find((name) => name === asked.get("theme"));
  const style = asked.get("style");
  const [zoom, lat, lng] = (asked.get("map") ?? "").split("/").map((part) => (part ? Number(part) : NaN));
  const known = [zoom, lat, lng].every(Number.isFinite) && Math.abs(lat) <= 90 && Math.abs(lng) <= 540;
  return {
    show: SHOWN.find((name) => name === asked.get("show") && (name !== "areas" || start.show === "areas")) ?? start.show,
    theme: theme ?? start.theme,
    smooth: style === "smooth" || (style !== "bands" && start.smooth),
    view: known ? { zoom, lat, lng } : start.view,
    slice: start.slice === null ? null : (asked.get("slice") ?? start.slice),
  };
}

/** The part of an address that asks for a state; empty for what is seen at the start. */
export function hashOf(state: State, start: State, embed = false): string {
  const parts: string[] = embed ? ["embed"] : [];
  if (state.view) {
    const { zoom, lat, lng } = state.view;
    parts.push(`map=${round(zoom, 2)}/${round(lat, DIGITS)}/${round(lng, DIGITS)}`);
  }
  if (state.show !== start.show) parts.push(`show=${state.show}`);
  if (state.theme !== start.theme) parts.push(`theme=${state.theme}`);
  if (state.smooth !== start.smooth) parts.push(`style=${state.smooth ? "smooth" : "bands"}`);
  if (state.slice !== null && state.slice !== start.slice) parts.push(`slice=${encodeURIComponent(state.slice)}`);
  return parts.length ? `#${parts.join("&")}` : "";
}

/** Whether an address asks for the small form that other pages embed. */
export function asksToEmbed({ search, hash }: { search: string; hash: string }): boolean {
  return new URLSearchParams(search).has("embed") || new URLSearchParams(hash.replace(/^#/, "")).has("embed");
}

/** The address of the page itself, without what asks to embed it; of a page without an address, nothing. */
export function pageAddress({ href }: { href: string }): string {
  if (!/^(https?|file):/.test(href)) return "";
  const address = new URL(href);
  address.hash = "";
  address.searchParams.delete("embed");
  return address.href;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
