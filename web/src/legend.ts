/** The legend: colours, round values below them, the unit, and what kind of scale it is. */
import { el } from "./dom";
import { type Axis, position, roomyTicks, words } from "./scale";

export interface LegendFacts {
  axis: Axis;
  colours: Uint8Array;
  name: string;
  noise: number | null;
}

const STEPS = 256;
const TYPICAL = 236; // pixels of the bar's length, before it is laid out

export class Legend {
  readonly element: HTMLElement;
  private readonly name = el("figcaption", { class: "legend-name" });
  private readonly bar = el("canvas", { class: "legend-bar", width: String(STEPS), height: "1", "aria-hidden": "true" });
  private readonly marks = el("div", { class: "legend-marks" });
  private readonly noise = el("p", { class: "legend-noise" });

  constructor() {
    const track = el("div", { class: "legend-track" }, this.bar, this.marks);
    this.element = el("figure", { class: "legend" }, this.name, track, this.noise);
  }

  show({ axis, colours, name, noise }: LegendFacts): void {
    this.name.textContent = name;
    drawColours(this.bar, colours);
    const labels = roomyTicks(axis, this.bar.clientWidth || TYPICAL).map((value) => mark("legend-tick", position(axis, value), words(value)));
    const marked = noise !== null && noise > axis.low && noise < axis.high;
    if (marked) labels.push(mark("legend-floor", position(axis, noise), ""));
    this.marks.replaceChildren(...labels);
    this.noise.textContent = noise === null ? "" : `${marked ? "▲ " : ""}Noise: typically ± ${words(Number(noise.toPrecision(2)))}`;
    this.noise.hidden = noise === null;
  }
}

export function drawColours(canvas: HTMLCanvasElement, colours: Uint8Array): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(STEPS, 1);
  for (let i = 0; i < STEPS; i++) {
    const from = 3 * Math.round((i * (colours.length / 3 - 1)) / (STEPS - 1));
    image.data.set([colours[from], colours[from + 1], colours[from + 2], 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

function mark(kind: string, at: number, text: string): HTMLElement {
  const element = el("span", { class: kind }, text);
  element.style.setProperty("--at", String(at));
  return element;
}
