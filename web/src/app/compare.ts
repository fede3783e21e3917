/** Two releases side by side, and what changed between them. */
import type { HeatmapView } from "../component";
import type { MapData } from "../data";
import { el } from "../dom";
import { api } from "./api";
import { maps } from "./maps";
import { Problem } from "./parts";
import { fill, moment, t } from "./texts";

export function compare(root: HTMLElement, first: string, second: string): () => void {
  const problem = new Problem();
  const pair = el("div", { class: "pair" });
  const change = el("section", {});
  const views: HeatmapView[] = [];
  let over = false;
  const framed = (parent: HTMLElement, heading: string, words: string): HTMLElement => {
    const frame = el("div", { class: "map-frame" });
    parent.append(el("section", {}, el("h2", {}, heading), el("p", { class: "note" }, words), frame));
    return frame;
  };
  const mount = async (frame: HTMLElement, asked: Promise<MapData>): Promise<void> => {
    const [{ HeatmapView }, data] = await Promise.all([maps(), asked]);
    if (over) return;
    const view = await HeatmapView.mount(frame, data);
    if (over) return view.destroy();
    views.push(view);
    frame.setAttribute("data-ready", "true");
  };
  const load = async (): Promise<void> => {
    const both = await Promise.all([api.state(first), api.state(second)]);
    const [before, after] = both.sort((a, b) => a.made.localeCompare(b.made));
    const frames = ([[before, t.compare.before], [after, t.compare.after]] as const).map(([release, heading]) => {
      const facts = fill(t.shelf.facts, { epsilon: release.wanted.epsilon, population: release.wanted.population });
      return { id: release.id, frame: framed(pair, heading, `${release.file}, ${moment(release.made)}, ${facts}`) };
    });
    for (const { id, frame } of frames) await mount(frame, api.map(id, null));
    if (JSON.stringify(before.wanted.place) !== JSON.stringify(after.wanted.place)) {
      change.append(el("p", { class: "note" }, t.compare.other_place));
      return;
    }
    await mount(framed(change, t.compare.difference, t.shell.free), api.minus(after.id, before.id));
  };
  root.append(el("h1", { tabindex: "-1" }, t.compare.heading), problem.element, pair, change, el("a", { class: "button", href: "#shelf" }, t.compare.back));
  load().catch((error: unknown) => problem.show(error));
  return () => {
    over = true;
    views.forEach((view) => view.destroy());
  };
}
