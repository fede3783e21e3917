/** Two releases on one scale, over each other or side by side, and what changed between them. */
import type { HeatmapView } from "../component";
import type { MapData } from "../data";
import { el } from "../dom";
import { api, type Release } from "./api";
import { maps } from "./maps";
import { Problem } from "./parts";
import { Swipe } from "./swipe";
import { fill, moment, t } from "./texts";

export function compare(root: HTMLElement, first: string, second: string): () => void {
  const problem = new Problem();
  const [both, change] = [el("div", {}), el("section", {})];
  const lead = el("p", { class: "lead", hidden: "" }, t.compare.lead);
  const views: { destroy(): void }[] = [];
  let over = false;
  const framed = (parent: HTMLElement, heading: string, words: string): HTMLElement => {
    const frame = el("div", { class: "map-frame" });
    parent.append(el("section", {}, el("h2", {}, heading), el("p", { class: "note" }, words), frame));
    return frame;
  };
  const mount = async (frame: HTMLElement, data: MapData): Promise<void> => {
    const { HeatmapView } = await maps();
    if (over) return;
    const view: HeatmapView = await HeatmapView.mount(frame, data);
    if (over) return view.destroy();
    views.push(view);
    frame.setAttribute("data-ready", "true");
  };
  const load = async (): Promise<void> => {
    const [before, after] = (await Promise.all([api.state(first), api.state(second)])).sort((a, b) => a.made.localeCompare(b.made));
    const pair = await api.beside(before.id, after.id);
    if (over) return;
    lead.hidden = before.wanted.place.kind !== after.wanted.place.kind;
    if (JSON.stringify(before.wanted.place) === JSON.stringify(after.wanted.place)) {
      const swipe = new Swipe([`A: ${inWords(before)}`, `B: ${inWords(after)}`]);
      views.push(swipe);
      both.append(swipe.element);
      await swipe.mount(pair);
      const changed = await api.minus(after.id, before.id);
      if (!over) await mount(framed(change, t.compare.difference, t.shell.free), changed);
    } else {
      both.className = "pair";
      change.append(el("p", { class: "note" }, t.compare.other_place));
      const frames = [framed(both, t.compare.before, inWords(before)), framed(both, t.compare.after, inWords(after))];
      for (const [i, frame] of frames.entries()) await mount(frame, pair[i]);
    }
  };
  root.append(el("h1", { tabindex: "-1" }, t.compare.heading), lead, problem.element, both, change, el("a", { class: "button", href: "#shelf" }, t.compare.back));
  load().catch((error: unknown) => over || problem.show(error));
  return () => {
    over = true;
    views.forEach((view) => view.destroy());
  };
}

/** Which release it is. */
function inWords({ title, file, made, wanted: { epsilon, population } }: Release): string {
  return `${title || file}, ${moment(made)}, ${fill(t.shelf.facts, { epsilon, population })}`;
}
