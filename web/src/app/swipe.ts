/** Two maps of one place over each other, on one scale: a slider tells how much of the upper one covers the lower. */
import type { HeatmapView } from "../component";
import type { MapData } from "../data";
import { el } from "../dom";
import { cameraOf, moveTo } from "./look";
import { maps } from "./maps";
import { input, labelled } from "./parts";
import { t } from "./texts";

const STEP = 2; // percent for each press of an arrow key

export class Swipe {
  readonly element: HTMLElement;
  private readonly frames = [el("div", { class: "map-frame lower" }), el("div", { class: "map-frame upper" })];
  private readonly line = el("div", { class: "swipe-line", "aria-hidden": "true" });
  private readonly slide = input({ type: "range", min: "0", max: "100", step: String(STEP), value: "50" }, () => this.show(), "input");
  private readonly resized = new ResizeObserver(() => this.show());
  private views: HeatmapView[] = [];
  private over = false;

  constructor(names: [left: string, right: string]) {
    const sides = el("div", { class: "swipe-names" }, ...names.map((name) => el("span", { dir: "auto" }, name)));
    this.element = el("section", {}, labelled(t.compare.swipe, this.slide, t.compare.swipe_note), sides, el("div", { class: "swipe" }, ...this.frames, this.line));
  }

  /** Mount both maps: the left one below, the right one above it. They move together. */
  async mount(pair: [MapData, MapData]): Promise<void> {
    const { HeatmapView } = await maps();
    for (const [i, data] of pair.entries()) {
      if (this.over) return;
      this.views.push(await HeatmapView.mount(this.frames[i], { ...data, title: t.compare.title, subtitle: "", takeaway: "" })); // the same words: one layout
    }
    if (this.over) return this.destroy();
    this.element.querySelector(".swipe")?.classList.toggle("words-of-upper", pair[0].nothing !== null); // it has no legend
    this.tie();
    this.resized.observe(this.element);
    this.show();
    Object.assign(this.element, { views: this.views });
    this.element.setAttribute("data-ready", "true");
  }

  destroy(): void {
    this.over = true;
    this.resized.disconnect();
    this.views.forEach((view) => view.destroy());
    this.views = [];
  }

  /** Let each map go where the other one goes. */
  private tie(): void {
    const cameras = this.views.map(cameraOf);
    let moving = false;
    cameras.forEach((camera, i) => camera?.on("move", () => {
      const other = cameras[1 - i];
      if (moving || !other) return;
      moving = true;
      moveTo(other, camera);
      moving = false;
    }));
  }

  /** Cut the upper map off to the left of the slider. */
  private show(): void {
    const stage = this.frames[1].querySelector<HTMLElement>(".stage");
    if (!stage) return;
    stage.style.clipPath = `inset(0 0 0 ${this.slide.value}%)`;
    const { left, width } = stage.getBoundingClientRect();
    this.line.style.left = `${left - this.frames[1].getBoundingClientRect().left + (width * Number(this.slide.value)) / 100}px`;
  }
}
