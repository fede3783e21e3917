/** How many people are in each slice: a line with its band, a marker at the slice that is shown; a click chooses one. */
import type { SeriesData, SliceData } from "./data";
import { el, svg } from "./dom";

const [WIDE, HIGH] = [1000, 100]; // of the drawing, which is stretched
const STEPS = [1, 2, 3, 4, 6, 7, 12, 14, 24, 28, 30, 60, 90, 168, 180, 365, 730]; // slices between words under the chart
const MOST = 8; // words

/** Where a slice lies along the chart and the slider, from 0 to 1. */
export function along(number: number, count: number): number {
  return count > 1 ? number / (count - 1) : 0.5;
}

/** The slice nearest to a place along the chart. */
export function nearestSlice(at: number, count: number): number {
  return Math.min(Math.max(Math.round(at * (count - 1)), 0), count - 1);
}

/** The slices whose labels stand under the chart. */
export function ticksOf(count: number): number[] {
  const step = STEPS.find((each) => count / each <= MOST) ?? Math.ceil(count / MOST);
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}

/** A label short enough to stand beside others: midnight is the day, and a date goes without its year. */
export function tickText(label: string): string {
  return label.replace(/(?<=[A-Z][a-z]{2}) 00:00$/, "").replace(/^(\d+ [A-Z][a-z]{2}) \d{4}/, "$1");
}

type Point = [x: number, y: number];

/** The outlines of the line and of its band, one for each run of slices that follow each other. */
export function outlines({ slices, run }: Pick<SeriesData, "slices" | "run">): { line: string; band: string }[] {
  const top = Math.max(...slices.map(({ volume }) => volume.high), 1e-9);
  const place = (k: number, people: number): Point => [WIDE * along(k, slices.length), HIGH * (1 - people / top)];
  const half = slices.length > 1 ? (0.3 * WIDE) / (slices.length - 1) : 0.1 * WIDE;
  const found = [];
  for (let start = 0; start < slices.length; start += run) {
    const each = slices.slice(start, start + run).map(({ volume }, i) => ({ ...volume, k: start + i }));
    const [line, high, low] = (["people", "high", "low"] as const).map((end) => each.map((one) => place(one.k, one[end])));
    const widened = (points: Point[]) => (points.length > 1 ? points : points.flatMap(([x, y]): Point[] => [[x - half, y], [x + half, y]]));
    found.push({ line: path(widened(line)), band: `${path([...widened(high), ...widened(low).reverse()])}Z` });
  }
  return found;
}

function path(points: Point[]): string {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** What the chart shows, to those who don't see it. */
export function inWords({ slices }: Pick<SeriesData, "slices">): string {
  const told = ({ label, volume }: SliceData) => `${label}, ${volume.words}`;
  const byPeople = [...slices].sort((a, b) => b.volume.people - a.volume.people);
  return `People at each step. Most: ${told(byPeople[0])}. Fewest: ${told(byPeople[byPeople.length - 1])}.`;
}

export class VolumeChart {
  readonly element: HTMLElement;
  private readonly marker = el("span", { class: "volume-marker" });
  private readonly top: number;

  constructor(private readonly series: SeriesData, choose: (number: number) => void) {
    this.top = Math.max(...series.slices.map(({ volume }) => volume.high), 1e-9);
    const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": inWords(series) });
    for (const { line, band } of outlines(series)) {
      drawing.append(svg("path", { d: band, class: "volume-band" }), svg("path", { d: line, class: "volume-line", "vector-effect": "non-scaling-stroke" }));
    }
    const plot = el("div", { class: "volume-plot" }, drawing, this.marker);
    plot.addEventListener("click", ({ clientX }) => {
      const { left, width } = plot.getBoundingClientRect();
      choose(nearestSlice((clientX - left) / width, series.slices.length));
    });
    this.element = el("div", { class: "volumes" }, plot, this.ticks(), el("p", { class: "note" }, series.caption));
  }

  /** Mark a slice. */
  tell(number: number): void {
    const { slices } = this.series;
    this.marker.style.left = `${100 * along(number, slices.length)}%`;
    this.marker.style.setProperty("--people", `${100 * (1 - slices[number].volume.people / this.top)}%`);
  }

  private ticks(): HTMLElement {
    const { slices } = this.series;
    const made = ticksOf(slices.length).map((number) => {
      const tick = el("span", {}, tickText(slices[number].label));
      tick.style.left = `${100 * along(number, slices.length)}%`;
      return tick;
    });
    return el("div", { class: "volume-ticks", "aria-hidden": "true" }, ...made);
  }
}
