/** The busiest places as a table, which is also what those get who don't see the map. */
import type { Busiest, MapData } from "./data";
import { button, el, part } from "./dom";
import { range } from "./numbers";

/** The table behind its name, if a map has such places; what was open stays open when the map changes. */
export class Places {
  readonly element = el("div", { class: "places" });

  constructor(private readonly go: (data: MapData, place: Busiest) => void) {}

  show(data: MapData): void {
    const { element } = this;
    const table = placesTable(data, (place) => this.go(data, place));
    const shown = element.firstElementChild;
    if (shown && data.busiest.length) shown.lastElementChild?.replaceWith(table);
    else element.replaceChildren(...(data.busiest.length ? [part("Places and their intervals", table)] : []));
  }
}

function placesTable({ busiest, legend, reading, signed }: MapData, go: (place: Busiest) => void): HTMLElement {
  const row = (place: Busiest) => {
    const [low, high] = range(place.low, place.high, signed);
    return el("tr", {}, el("th", { scope: "row" }, button(place.name, () => go(place), { class: "link" })), el("td", {}, `${low}${signed ? " to " : "–"}${high}`));
  };
  return el(
    "table",
    {},
    el("caption", {}, [legend.short, reading.sure].filter(Boolean).join(". ")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Place"), el("th", { scope: "col" }, "Range"))),
    el("tbody", {}, ...busiest.map(row)),
  );
}
