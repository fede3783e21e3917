/** The legend: bands side by side with numbers on their edges, and in words what is bare, rough or outside. */
import type { MapData, Theme } from "./data";
import { el } from "./dom";
import { SURE_EDGES, SURE_OPACITY } from "./heat";
import { type Ink, INKS, SURE } from "./inks";
import type { Layout } from "./layout";
import { words } from "./numbers";
import { gradientAt, type Rgb, rgbOf } from "./paint";
import type { State } from "./state";

/** A band: its colours from left to right, a number on one of its edges, and what it says to those who don't see it. */
export interface Box {
  /** Null: bare. */
  colours: [string, string] | null;
  tick: string;
  at: "left" | "right";
  words: string;
}

export interface Row {
  swatch: "bare" | "rough" | "outside" | "lines" | "none";
  text: string;
}

export interface LegendParts {
  title: string;
  short: string;
  boxes: Box[];
  /** What stands under the bare box. */
  under: string;
  less: string;
  more: string;
  rows: Row[];
}

export function legendParts(data: MapData, { show, smooth }: Pick<State, "show" | "smooth">, ink: Ink): LegendParts {
  const { legend } = data;
  const outside: Row[] = data.kind === "bbox" && legend.outside ? [{ swatch: "outside", text: legend.outside }] : [];
  const notes = legend.notes.map((text): Row => ({ swatch: "none", text }));
  if (data.nothing) {
    return { title: legend.title, short: legend.short, boxes: [], under: "", less: "", more: "", rows: [row("lines", legend.bare), ...notes, ...outside] };
  }
  if (show === "sure" && data.low) {
    const title = "What is shown is likely off by at most";
    return { title, short: title, boxes: sureBoxes(ink), under: "can’t tell", less: "", more: "", rows: [row("bare", "Too few to tell from the noise"), ...outside] };
  }
  const theme = ink === "dark" ? data.dark : data.light;
  const [shade, fewer] = [theme.bands, theme.fewer].map((bands) => (smooth && bands.length ? gradient(data, bands, theme.opacity, ink) : null));
  const rows = [...(legend.bare ? [row("bare", legend.bare)] : []), ...(legend.rough ? [row("rough", legend.rough)] : []), ...notes, ...outside];
  const boxes = data.signed ? signedBoxes(data, theme, shade, fewer) : heatBoxes(data, theme, shade);
  return { title: legend.title, short: legend.short, boxes, under: legend.under, less: legend.less, more: legend.more, rows };
}

const row = (swatch: Row["swatch"], text: string): Row => ({ swatch, text });

/** The colour of a value, where there are no bands. */
type Shade = ((value: number) => string) | null;

/** The colours of a band from an edge to the next: one, or those of a gradient. */
function coloursOf(shade: Shade, swatch: string, edge: number, next: number | undefined): [string, string] {
  return shade ? [shade(edge), shade(next ?? Infinity)] : [swatch, swatch];
}

function heatBoxes({ edges, legend }: MapData, { swatches }: Theme, shade: Shade): Box[] {
  const bands = edges.map((edge, i): Box => {
    const next = edges[i + 1];
    return { colours: coloursOf(shade, swatches[i], edge, next), tick: words(edge), at: "left", words: next === undefined ? `${words(edge)} and more` : `${words(edge)} to ${words(next)}` };
  });
  return [{ colours: null, tick: "", at: "left", words: legend.under }, ...bands];
}

function signedBoxes({ edges, legend }: MapData, { swatches, fewerSwatches }: Theme, shade: Shade, fewer: Shade): Box[] {
  const less = edges.map((edge, i): Box => {
    const next = edges[i + 1];
    const told = next === undefined ? `${words(-edge)} and below` : `${words(-next)} to ${words(-edge)}`;
    const [right, left] = coloursOf(fewer, fewerSwatches[i], edge, next);
    return { colours: [left, right], tick: words(-edge), at: "right", words: told };
  });
  const more = edges.map((edge, i): Box => {
    const next = edges[i + 1];
    const told = next === undefined ? `+${words(edge)} and more` : `+${words(edge)} to +${words(next)}`;
    return { colours: coloursOf(shade, swatches[i], edge, next), tick: `+${words(edge)}`, at: "left", words: told };
  });
  return [...less.reverse(), { colours: null, tick: "", at: "left", words: legend.under }, ...more];
}

function sureBoxes(ink: Ink): Box[] {
  const share = (edge: number) => `${Math.round(100 / edge)} %`;
  const bands = SURE_EDGES.map((edge, i): Box => {
    const next = SURE_EDGES[i + 1];
    const told = next === undefined ? `off by ${share(edge)} or less` : `off by ${share(next)} to ${share(edge)}`;
    const colour = over(rgbOf(SURE[ink][i]), SURE_OPACITY, rgbOf(INKS[ink].land));
    return { colours: [colour, colour], tick: share(edge), at: "left", words: told };
  });
  return [{ colours: null, tick: "", at: "left", words: "can’t tell" }, ...bands];
}

/** The colour of a value on a gradient, as it looks on land. */
function gradient({ edges, top }: MapData, bands: string[], opacity: number[], ink: Ink): (value: number) => string {
  const [colours, land] = [bands.map(rgbOf), rgbOf(INKS[ink].land)];
  return (value) => {
    const at = gradientAt(value, edges[0], top);
    const along = at * (colours.length - 1);
    const k = Math.min(Math.floor(along), Math.max(colours.length - 2, 0));
    const next = colours[Math.min(k + 1, colours.length - 1)];
    const mixed = colours[k].map((part, c) => part + (next[c] - part) * (along - k)) as Rgb;
    return over(mixed, opacity[0] + (opacity[opacity.length - 1] - opacity[0]) * Math.min(1, 1.25 * at), land);
  };
}

function over(colour: Rgb, opacity: number, ground: Rgb): string {
  const mixed = colour.map((part, c) => Math.round(opacity * part + (1 - opacity) * ground[c]));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Whether the words under the bare box take more room than usual. */
export function isRoomy({ under }: LegendParts): boolean {
  return under.length > 8;
}

export class Legend {
  readonly element = el("section", { class: "legend", "aria-label": "Legend" });

  show(parts: LegendParts, layout: Layout): void {
    const title = el("p", { class: "legend-title" }, layout === "wide" ? parts.title : parts.short || parts.title);
    const sides = el("p", { class: "legend-sides" }, el("span", {}, parts.less), el("span", {}, parts.more));
    const bands = el("ol", { class: "bands" }, ...parts.boxes.map((box) => boxOf(box, parts.under)));
    const rows = el("ul", { class: "legend-rows" }, ...parts.rows.map((one) => rowOf(one, parts)));
    const both = parts.less || parts.more;
    const head = both ? [sides, bands, title] : parts.boxes.length ? [title, bands] : [];
    bands.classList.toggle("signed", Boolean(both));
    bands.classList.toggle("roomy", isRoomy(parts));
    this.element.replaceChildren(...head, ...(parts.rows.length ? [rows] : []));
  }
}

function boxOf({ colours, tick, at, words: told }: Box, under: string): HTMLElement {
  const swatch = el("span", { class: "band" });
  if (colours) swatch.style.background = colours[0] === colours[1] ? colours[0] : `linear-gradient(to right, ${colours.join(", ")})`;
  const mark = el("span", { class: `tick ${at}`, "aria-hidden": "true" }, colours ? tick : under);
  return el("li", { class: colours ? "" : "bare" }, el("span", { class: "spoken" }, told), swatch, mark);
}

function rowOf({ swatch, text }: Row, { boxes }: LegendParts): HTMLElement {
  const mark = el("span", { class: `swatch ${swatch}`, "aria-hidden": "true" });
  if (swatch === "rough") mark.style.setProperty("--colour", (boxes[2] ?? boxes[1])?.colours?.[0] ?? "");
  return el("li", {}, ...(swatch === "none" ? [] : [mark]), el("span", {}, text));
}
