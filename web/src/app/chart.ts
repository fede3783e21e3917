/** What was spent on a population over time, as steps below its limit. */
import { el } from "../dom";
import type { Population } from "./api";
import { value } from "./numbers";
import { fill, moment, short, t } from "./texts";

const SPACE = "http://www.w3.org/2000/svg";
const [HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [180, 44, 14, 12, 24];

const DAY = 86_400_000; // milliseconds
const day = (time: number): string => new Date(time).toLocaleDateString("en-GB", { dateStyle: "medium" });

function svg(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, given] of Object.entries(attributes)) made.setAttribute(name, String(given));
  made.textContent = text;
  return made;
}

export function spendingChart(account: Population): HTMLElement {
  const limit = account.whole === null ? null : value(account.whole);
  const words = account.words ? `${account.population}: ${account.words}` : fill(t.account.chart, { population: account.population, spent: account.spent, limit: account.limit ?? t.account.no_limit });
  return el("figure", { class: "chart" }, el("figcaption", {}, words), drawn(account.history, limit, words) as unknown as HTMLElement);
}

function drawn(history: Population["history"], limit: number | null, words: string): SVGElement {
  const width = Math.min(640, window.innerWidth - 40); // so that letters keep their size
  const times = history.map(([made]) => new Date(made).getTime());
  const now = Date.now();
  const first = Math.min(...times, now - 3_600_000);
  const most = Math.max(limit ?? 0, ...history.map(([, spent]) => spent), 1e-9);
  const x = (time: number) => LEFT + ((width - LEFT - RIGHT) * (time - first)) / (now - first);
  const y = (spent: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * spent) / most;
  const when = (time: number) => (now - first < 2 * DAY ? moment(new Date(time).toISOString()) : day(time));
  let path = `M ${x(first)} ${y(0)}`;
  history.forEach(([, spent], i) => (path += ` H ${x(times[i])} V ${y(spent)}`));
  path += ` H ${x(now)}`;
  const chart = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": words });
  chart.append(
    svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: y(0), y2: y(0) }),
    svg("text", { x: LEFT - 6, y: y(0) + 4, "text-anchor": "end" }, "0"),
    svg("text", { x: LEFT - 6, y: y(most) + 4, "text-anchor": "end" }, short(most)),
    svg("text", { x: LEFT, y: HEIGHT - 6 }, when(first)),
    svg("text", { x: width - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, when(now)),
    svg("path", { class: "spent-line", d: path }),
  );
  if (limit !== null) chart.append(svg("line", { class: "limit-line", x1: LEFT, x2: width - RIGHT, y1: y(limit), y2: y(limit) }));
  return chart;
}
