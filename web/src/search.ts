/** Finding a place by its name or by its coordinates, in what the page carries. */
import type { City } from "./data";
import { button, el } from "./dom";
import { kilometres, type LngLat } from "./place";

export interface Found extends LngLat {
  name: string;
}

/**
 * The place that is meant: coordinates as "40.7, -74.0", latitude first; else a name, or one that starts with it, or one
 * that contains it. Of several, the one nearest to the map counts, as nobody looks for one far away.
 */
export function find(query: string, cities: City[], near: LngLat): Found | null {
  const asked = plain(query);
  if (!asked) return null;
  const point = coordinates(query);
  if (point) return { ...point, name: query.trim() };
  const tests: ((name: string) => boolean)[] = [
    (name) => name === asked,
    (name) => name.startsWith(asked),
    (name) => name.includes(asked),
  ];
  for (const test of tests) {
    const found = cities.filter(([name]) => test(plain(name)));
    if (!found.length) continue;
    const away = ([, lng, lat]: City) => kilometres({ lng, lat }, near);
    const [name, lng, lat] = found.reduce((a, b) => (away(b) < away(a) ? b : a));
    return { name, lng, lat };
  }
  return null;
}

function coordinates(query: string): LngLat | null {
  const numbers = /^\s*([+-]?\d+(?:\.\d+)?)°?\s*[,;\s]\s*([+-]?\d+(?:\.\d+)?)°?\s*$/.exec(query.replace(/−/g, "-"));
  if (!numbers) return null;
  const [lat, lng] = [Number(numbers[1]), Number(numbers[2])];
  return Math.abs(lat) <= 85 && Math.abs(lng) <= 180 ? { lng, lat } : null;
}

/** Without accents and capitals, so that "zurich" finds Zürich. */
function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

let fields = 0;

/** The field: what is typed is found when it is entered or chosen. */
export function searchField(names: string[], go: (query: string) => boolean): HTMLFormElement {
  const id = `dpheatmap-places-${++fields}`; // a page may show several maps
  const input = el("input", { type: "search", list: id, placeholder: "Find a place", "aria-label": "Find a place", autocomplete: "off" });
  const told = el("p", { class: "told", role: "status" });
  const list = el("datalist", { id }, ...names.map((value) => el("option", { value })));
  const search = () => {
    const found = !input.value.trim() || go(input.value);
    told.textContent = found ? "" : "No such place on this map. Coordinates work too: 40.7, −74.0";
    return found;
  };
  const form = el("form", { class: "search", role: "search" }, input, button("Go", search), list, told);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  input.addEventListener("input", (event) => {
    const chosen = !(event as InputEvent).inputType || (event as InputEvent).inputType === "insertReplacementText";
    if (chosen && names.includes(input.value)) search(); // a suggestion was taken
  });
  return form;
}
