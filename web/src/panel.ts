/** The controls: everything that a reader can choose, in elements that the keyboard and screen readers know. */
import { button, el, field } from "./dom";
import type { MapData } from "./data";
import type { State, Theme } from "./state";

export interface PanelActions {
  change(part: Partial<State>): void;
  savePicture(): void;
  saveGeoJson(): void;
  showAll(): void;
}

export function controls(data: MapData, state: State, actions: PanelActions): HTMLElement {
  const { change } = actions;
  const rows: HTMLElement[] = [];
  if (data.std) {
    rows.push(
      choice("Show", [["values", data.signed ? "Difference" : "Heat"], ["std", "Standard deviation"]], state.layer, (value) =>
        change({ layer: value as State["layer"] }),
      ),
    );
  }
  if (data.clear) {
    rows.push(tick(`Grey out what is ${data.quiet}`, state.grey, (grey) => change({ grey })));
  }
  if (!data.signed) {
    const names = data.scales.map(({ name }, i): [string, string] => [String(i), name]);
    rows.push(choice("Colours", names, String(state.colours), (value) => change({ colours: Number(value) })));
  }
  if (!data.signed) {
    rows.push(
      choice("Scale", [["linear", "Linear"], ["log", "Logarithmic"]], state.axis, (value) =>
        change({ axis: value as State["axis"] }),
      ),
    );
  }
  rows.push(
    tick(data.signed ? "Fade out small changes" : "Fade out where it is cold", state.fade, (fade) => change({ fade })),
    slider("Opacity", state.opacity, (opacity) => change({ opacity })),
    choice("Theme", [["auto", "As the device"], ["light", "Light"], ["dark", "Dark"]], state.theme, (value) =>
      change({ theme: value as Theme }),
    ),
    el(
      "div",
      { class: "buttons" },
      button("Show all", actions.showAll),
      button("Save PNG", actions.savePicture),
      button("Save GeoJSON", actions.saveGeoJson),
    ),
  );
  return el("div", { class: "controls" }, ...rows);
}

function choice(
  name: string,
  options: [value: string, text: string][],
  chosen: string,
  change: (value: string) => void,
): HTMLElement {
  const select = el("select", {}, ...options.map(([value, text]) => el("option", { value }, text)));
  select.value = chosen;
  select.addEventListener("change", () => change(select.value));
  return field(name, select);
}

function tick(name: string, chosen: boolean, change: (value: boolean) => void): HTMLElement {
  const input = el("input", { type: "checkbox" });
  input.checked = chosen;
  input.addEventListener("change", () => change(input.checked));
  return el("label", { class: "tick" }, input, el("span", {}, name));
}

function slider(name: string, chosen: number, change: (value: number) => void): HTMLElement {
  const input = el("input", { type: "range", min: "0", max: "1", step: "0.05" });
  input.value = String(chosen);
  input.addEventListener("input", () => change(Number(input.value)));
  return field(name, input);
}
