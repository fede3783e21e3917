/** A frame with one map in it, which can be drawn anew: with other data or another title, and looking as before. */
import type { HeatmapView } from "../component";
import type { AreaData, MapData } from "../data";
import { el } from "../dom";
import type { State } from "../state";
import { type Look, lookOf, wear } from "./look";
import { maps } from "./maps";

export class MapFrame {
  readonly element = el("div", { class: "map-frame" });
  private view: HeatmapView | null = null;
  private data: MapData | null = null;
  private mounted: Promise<void> = Promise.resolve();
  private turn = 0;
  private over = false;

  constructor(private title: string, private look: Look) {}

  get isEmpty(): boolean {
    return !this.view;
  }

  /** How the map is shown now. */
  get shownLook(): Look {
    return this.view ? lookOf(this.view) : this.look;
  }

  /** Draw a map; of several that are asked for at once, whatever their order of arrival, the last one stays. */
  async draw<Data extends MapData>(asked: Promise<Data>, name: string): Promise<Data | null> {
    const turn = this.begin();
    const [data] = await Promise.all([asked, maps()]);
    if (!(await this.mount(data, turn))) return null;
    this.element.setAttribute("data-ready", name);
    return data;
  }

  /** Give the map another title. */
  async call(title: string): Promise<void> {
    this.title = title;
    if (this.data) await this.mount(this.data, this.begin());
  }

  /** Show something else: the heat, or areas. */
  show(show: State["show"]): void {
    this.view?.set({ show });
  }

  /** Move the map to an area. */
  goToArea(area: AreaData): void {
    this.view?.goToArea(area);
  }

  destroy(): void {
    this.look = this.shownLook;
    this.over = true;
    this.view?.destroy();
  }

  /** Begin a turn, which ends those before it. */
  private begin(): number {
    this.element.setAttribute("aria-busy", "true");
    return ++this.turn;
  }

  /** Mount a map in place of the one before; returns whether it stayed. */
  private async mount(data: MapData, turn: number): Promise<boolean> {
    await this.mounted.catch(() => undefined);
    if (this.over || turn !== this.turn) return false;
    this.mounted = this.replace(data);
    await this.mounted;
    if (this.over) this.view?.destroy();
    if (this.over || turn !== this.turn) return false;
    this.data = data;
    Object.assign(window, { dpheatmap: this.view });
    this.element.removeAttribute("aria-busy");
    return true;
  }

  private async replace(data: MapData): Promise<void> {
    const { HeatmapView } = await maps();
    this.look = this.shownLook;
    this.view?.destroy();
    this.view = null;
    const view = await HeatmapView.mount(this.element, called(data, this.title));
    wear(view, this.look);
    this.view = view;
  }
}

/** A map, and its areas, with a title if there is one. */
function called(data: MapData, title: string): MapData {
  return title ? { ...data, title, areas: data.areas && { ...data.areas, title } } : data;
}
