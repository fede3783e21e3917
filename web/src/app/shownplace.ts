/** The place as it will be paid for: drawn on a map, named by its town, and with what looks wrong about it. */
import { el } from "../dom";
import { api, type Place } from "./api";
import type { BoxMap } from "./boxmap";
import { type Picture } from "./draft";
import { maps } from "./maps";
import { factsInWords, factsOf, placeInWords } from "./placewords";
import { Problem } from "./parts";
import { t } from "./texts";

const MARGIN = 90; // pixels around the box, in which its surroundings can be recognised

export class ShownPlace {
  readonly element = el("section", { class: "shown-place" }, el("h2", {}, t.release.place));
  private readonly confirmed = el("input", { type: "checkbox" });
  private readonly asked = el("label", { class: "tick", hidden: "" }, this.confirmed, el("span", {}, t.release.place_right));
  private readonly words = el("div", { "aria-live": "polite" });
  private known: Promise<void> = Promise.resolve();
  private map: BoxMap | null = null;
  private over = false;

  constructor(private readonly place: Place, picture: Picture | null, problem: Problem) {
    this.words.append(el("p", {}, placeInWords(place)));
    if (picture) this.element.append(el("div", { class: "picture" }, el("img", { src: `/api/uploads/${picture.upload}/picture?show=1`, alt: picture.name })));
    if (place.kind === "bbox") this.draw(place.bounds).catch((error: unknown) => problem.show(error));
    this.element.append(this.words, this.asked);
    this.known = this.tell().catch((error: unknown) => problem.show(error));
  }

  /** Whether somebody has to say first that an unlikely place is the right one. */
  async isDoubtful(): Promise<boolean> {
    await this.known;
    return !this.asked.hidden && !this.confirmed.checked;
  }

  end(): void {
    this.over = true;
    this.map?.destroy();
  }

  private async tell(): Promise<void> {
    const facts = await factsOf(this.place);
    if (!facts || this.over) return;
    this.words.append(...factsInWords(facts));
    this.asked.hidden = !facts.warnings.length;
    this.element.setAttribute("data-town", facts.town);
  }

  private async draw(box: [number, number, number, number]): Promise<void> {
    const frame = el("div", { class: "boxmap small" });
    this.element.append(frame, el("p", { class: "credit" }, t.place.credit));
    const [{ BoxMap }, basemap] = await Promise.all([maps(), api.basemap([-180, -85, 180, 85])]);
    if (this.over) return;
    this.map = new BoxMap(frame, { name: t.release.place_map, basemap, detail: (bounds) => api.basemap(bounds), drawn: () => undefined, drawing: () => undefined });
    await this.map.ready;
    this.map.show(box, MARGIN);
    Object.assign(frame, { boxmap: this.map });
    frame.setAttribute("data-ready", "true");
  }
}
