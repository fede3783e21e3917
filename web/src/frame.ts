/** The elements around the map, and where they go in each layout. */
import type { MapData } from "./data";
import { el } from "./dom";
import { privacyLabel } from "./label";
import type { Layout } from "./layout";
import { Sheet } from "./sheet";

export interface FrameParts {
  data: MapData;
  legend: HTMLElement;
  /** The areas and their numbers, which have a place of their own. */
  areas: HTMLElement | null;
  /** What chooses between several maps. */
  slider: HTMLElement | null;
  /** What can be opened: search, places, settings, downloads. */
  more: HTMLElement;
  /** What lies on the map: buttons, readout. */
  onMap: HTMLElement[];
}

export class Frame {
  /** Where the map is drawn. */
  readonly stage = el("div", { class: "stage" });
  readonly area = el("div", { class: "area" });
  readonly sheet = new Sheet();
  /** To the map itself, from a page that embeds it. */
  readonly link = el("a", { class: "open", target: "_blank", rel: "noopener" }, "Open the map ↗");
  private readonly column = el("section", { class: "column", "aria-label": "About this map" });
  private readonly promise = el("div", { class: "promise" });
  private printed: HTMLElement | null = null;
  private readonly title = el("h1", {});
  private readonly subtitle = el("p", { class: "subtitle" });
  private readonly takeaway = el("p", { class: "takeaway" });
  private readonly facts = el("p", { class: "facts" });
  private readonly card = el("div", { class: "card" });
  private readonly credits: HTMLElement;

  constructor(private readonly root: HTMLElement, private readonly parts: FrameParts) {
    const { data } = parts;
    const { badge, open, dialog } = privacyLabel(data);
    this.credits = el("p", { class: "credits" }, [...data.credits, ...(data.tiles ? [data.tiles.credit] : [])].join(" · "));
    this.promise.append(badge, open, this.sheet.open);
    const header = el("header", {}, this.title, this.subtitle, this.takeaway);
    this.column.append(header, this.promise, parts.legend, ...(parts.areas ? [parts.areas] : []), this.facts);
    this.area.append(this.stage, this.card, ...parts.onMap, this.credits);
    this.say(data);
    root.classList.add("dpheatmap");
    root.replaceChildren(
      ...data.warnings.map((text) => el("p", { class: "warning" }, text)),
      el("div", { class: "body" }, this.column, this.area, ...(parts.slider ? [parts.slider] : [])),
      this.sheet.dialog,
      dialog,
    );
  }

  arrange(layout: Layout): void {
    this.root.style.setProperty("--room", `${this.root.clientHeight}px`);
    if (this.root.getAttribute("data-layout") === layout) return;
    this.root.setAttribute("data-layout", layout);
    if (layout === "wide") this.column.insertBefore(this.parts.more, this.facts);
    else this.sheet.hold(this.parts.more);
    this.parts.more.querySelector(".part-settings")?.toggleAttribute("open", layout !== "wide"); // what the sheet is opened for
    if (layout === "wide" && this.sheet.dialog.open) this.sheet.close();
    if (layout === "embed") this.promise.append(this.credits, this.link);
    else {
      this.area.append(this.credits);
      this.link.remove();
    }
  }

  /** A picture of the map to be printed in its place, or no longer. */
  print(picture: HTMLCanvasElement | null): void {
    this.printed?.remove();
    this.printed = picture;
    picture?.classList.add("printed");
    if (picture) this.stage.after(picture);
  }

  /** The address that the link opens; none hides it. */
  lead(address: string): void {
    this.link.hidden = !address;
    this.link.href = address;
  }

  /** Say what is shown: its titles, its sentence, its small print, and why there may be nothing. */
  say({ title, subtitle, takeaway, facts, nothing }: Pick<MapData, "title" | "subtitle" | "takeaway" | "facts" | "nothing">): void {
    this.title.textContent = title;
    this.subtitle.textContent = subtitle;
    this.subtitle.hidden = !subtitle;
    this.takeaway.textContent = takeaway;
    this.takeaway.hidden = !takeaway;
    this.facts.textContent = facts.join(" ");
    this.card.hidden = !nothing;
    this.card.replaceChildren(...(nothing ? [el("h2", {}, nothing.heading), el("p", {}, nothing.text)] : []));
  }
}
