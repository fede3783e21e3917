/** What a reader can choose: three things, in elements that the keyboard and screen readers know. */
import type { MapData } from "./data";
import { el, field } from "./dom";
import type { State, ThemeChoice } from "./state";

export class Settings {
  readonly element: HTMLElement;
  private readonly show: HTMLSelectElement | null;
  private readonly theme: HTMLSelectElement;
  private readonly smooth: HTMLInputElement;

  constructor(data: MapData, change: (part: Partial<State>) => void) {
    const shown: [value: string, text: string][] = data.nothing ? [] : [["heat", data.signed ? "Change" : "Heat"]];
    if (data.low && !data.nothing) shown.push(["sure", "How sure it is"]);
    if (data.areas) shown.unshift(["areas", "Areas"]);
    this.show = shown.length > 1 ? select(shown) : null;
    this.theme = select([["auto", "As the device"], ["light", "Light"], ["dark", "Dark"]]);
    this.smooth = el("input", { type: "checkbox" });
    this.show?.addEventListener("change", () => change({ show: this.show?.value as State["show"] }));
    this.theme.addEventListener("change", () => change({ theme: this.theme.value as ThemeChoice }));
    this.smooth.addEventListener("change", () => change({ smooth: this.smooth.checked }));
    this.element = el(
      "div",
      { class: "controls" },
      ...(this.show ? [field("Show", this.show)] : []),
      field("Colours of the page", this.theme),
      ...(data.nothing ? [] : [el("label", { class: "tickbox" }, this.smooth, el("span", {}, "Smooth instead of bands"))]),
    );
  }

  /** Show what is chosen. */
  tell(state: State): void {
    if (this.show) this.show.value = state.show;
    this.theme.value = state.theme;
    this.smooth.checked = state.smooth;
  }
}

function select(options: [value: string, text: string][]): HTMLSelectElement {
  return el("select", {}, ...options.map(([value, text]) => el("option", { value }, text)));
}
