/** The slider over the slices of a series: it steps, plays and pauses, by pointer and by keyboard. */
import type { SeriesData } from "./data";
import { button, el, svg } from "./dom";
import { stepped } from "./slices";
import { VolumeChart } from "./volumes";

const PACE = 800; // milliseconds that a slice is shown while it plays

const ICONS = { back: "M11 3 5 8l6 5Z", on: "m5 3 6 5-6 5Z", play: "M4 2.5v11L13 8Z", pause: "M4 3h3v10H4Zm5 0h3v10H9Z" };

export class Slider {
  readonly element: HTMLElement;
  private at = 0;
  private playing = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly range: HTMLInputElement;
  private readonly play = button("", () => this.toggle());
  private readonly back = button("", () => undefined, { "aria-label": "Previous" });
  private readonly on = button("", () => undefined, { "aria-label": "Next" });
  private readonly label = el("strong", {});
  private readonly volume = el("span", {});
  private readonly spoken = el("p", { class: "spoken", role: "status", "aria-live": "polite" });
  private readonly chart: VolumeChart;

  /** `chosen` is told the name of the slice that a reader, or time, comes to. */
  constructor(private readonly series: SeriesData, private readonly chosen: (name: string) => void) {
    this.range = el("input", { type: "range", min: "0", max: String(series.slices.length - 1), step: "1", "aria-label": series.of });
    this.chart = new VolumeChart(series, (number) => this.jump(number));
    this.back.append(icon("back"));
    this.on.append(icon("on"));
    this.listen();
    const buttons = el("div", { class: "steps" }, this.back, this.play, this.on);
    const head = el("div", { class: "slice-head" }, buttons, el("p", { class: "slice-now" }, this.label, this.volume));
    this.element = el("section", { class: "slices", "aria-label": series.of }, head, this.range, this.chart.element, this.spoken);
    this.tell(0);
    this.tellPlaying();
  }

  /** Show that a slice was chosen. */
  tell(number: number): void {
    const { slices, loops } = this.series;
    const { label, volume } = slices[number];
    this.at = number;
    this.range.value = String(number);
    this.range.setAttribute("aria-valuetext", label);
    this.label.textContent = label;
    this.volume.textContent = volume.words;
    this.chart.tell(number);
    for (const [step, end] of [[this.back, 0], [this.on, slices.length - 1]] as const) {
      step.setAttribute("aria-disabled", String(slices.length < 2 || (!loops && number === end)));
    }
  }

  /** The slice is on the map: while it plays, the next one is due. */
  shown(): void {
    clearTimeout(this.timer);
    if (this.playing) this.timer = setTimeout(() => this.tick(), PACE);
  }

  pause(): void {
    clearTimeout(this.timer);
    this.playing = false;
    this.tellPlaying();
  }

  /** At the end of a series that does not loop, it starts anew. */
  private toggle(): void {
    if (this.playing) return this.pause();
    this.playing = true;
    this.tellPlaying();
    if (!this.goesOn) this.choose(0);
    else this.tick();
  }

  private choose(number: number): void {
    this.chosen(this.series.slices[number].name);
  }

  private tick(): void {
    if (document.hidden) return this.shown();
    if (!this.goesOn) return this.pause();
    this.choose(stepped(this.at, 1, this.series));
  }

  private get goesOn(): boolean {
    return stepped(this.at, 1, this.series) !== this.at;
  }

  /** Where a reader goes; this ends what plays. */
  private jump(number: number, byKeyboard = false): void {
    this.pause();
    if (number !== this.at) this.choose(number);
    const { label, volume } = this.series.slices[number];
    if (byKeyboard) this.spoken.textContent = `${label}, ${volume.words}`;
  }

  private listen(): void {
    let byKeyboard = false;
    this.range.addEventListener("keydown", (event) => {
      byKeyboard = true;
      if (event.key !== " ") return;
      event.preventDefault();
      this.toggle();
    });
    this.range.addEventListener("pointerdown", () => (byKeyboard = false));
    this.range.addEventListener("input", () => this.jump(Number(this.range.value), byKeyboard));
    // A click without a count of clicks is the keyboard's.
    this.back.addEventListener("click", ({ detail }) => this.jump(stepped(this.at, -1, this.series), detail === 0));
    this.on.addEventListener("click", ({ detail }) => this.jump(stepped(this.at, 1, this.series), detail === 0));
  }

  private tellPlaying(): void {
    this.play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.play.classList.toggle("playing", this.playing);
    this.play.replaceChildren(icon(this.playing ? "pause" : "play"));
  }
}

function icon(name: keyof typeof ICONS): SVGElement {
  const made = svg("svg", { viewBox: "0 0 16 16", width: "16", height: "16", "aria-hidden": "true" });
  made.append(svg("path", { d: ICONS[name], fill: "currentColor" }));
  return made;
}
