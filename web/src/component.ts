/**
 * The map as a component: `await HeatmapView.mount(element, data)` fills an element with the heat, its legend, its
 * settings and its promise; `state` is what a reader chose, `set` changes it, `destroy` takes everything away again.
 */
import { asksToEmbed, hashOf, pageAddress, stateOf } from "./address";
import { type Areas, areasTable, withAreas } from "./areas";
import type { AreaData, City, MapData } from "./data";
import { button, el, part } from "./dom";
import { geoJson, save } from "./download";
import { snippet, snippetField } from "./embed";
import { Fade } from "./fade";
import { Frame } from "./frame";
import { groundOf } from "./ground";
import { Heat } from "./heat";
import type { Ink } from "./inks";
import { type Layout, watchLayout } from "./layout";
import { Legend, type LegendParts, legendParts } from "./legend";
import { HeatMap } from "./map";
import { pictureOf } from "./picture";
import { atFractions, atOwn, fractionsAt, type LngLat, WHOLE } from "./place";
import { Places } from "./places";
import { onPrint } from "./print";
import { readingAt } from "./reading";
import { Readout } from "./readout";
import { find, searchField } from "./search";
import { type Chosen, selection } from "./selection";
import { Settings } from "./settings";
import { Slices, withSlice } from "./slices";
import { Slider } from "./slider";
import { snapshot } from "./snapshot";
import { isDark, startOf, type State } from "./state";
import { unpack, type Unpacked } from "./unpack";
import { waterOver } from "./water";

export type { State } from "./state";

export interface Options {
  /** Whether the page is the map's alone, so that its address tells what is seen. */
  page?: boolean;
}

const SHARP = 2; // pixels of pictures and prints for each of the screen's
const [AROUND, AROUND_SMALL] = [16, 10]; // pixels around the map when all of it is shown
const REST = 250; // milliseconds without another slice, after which the address tells it
const FEW = 0.03; // of what is painted: may be out of sight at first where a page embeds the map

export class HeatmapView {
  private readonly start: State;
  private chosen: State;
  private data: MapData;
  private layout: Layout = "wide";
  private printing = false;
  private selects = false;
  private nearest = 0; // the zoom that shows all of it
  private map: HeatMap | null = null;
  private readonly heat: Heat;
  private readonly frame: Frame;
  private readonly legend = new Legend();
  private readonly readout = new Readout();
  private readonly settings: Settings;
  private readonly cities: City[];
  private readonly places = new Places((data, { lon, lat }) => this.go(atOwn(data, lon, lat)));
  private readonly slices: Slices | null;
  private readonly slider: Slider | null;
  private readonly fade: Fade;
  private pointedAt: Parameters<HeatmapView["point"]> | null = null;
  private addressDue: ReturnType<typeof setTimeout> | undefined;
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly ends: (() => void)[] = [];

  private constructor(
    private readonly root: HTMLElement,
    given: MapData,
    private readonly unpacked: Unpacked,
    private readonly options: Options,
  ) {
    const { basemap, fields } = unpacked;
    const data = (this.data = withSlice(given, 0));
    this.start = this.chosen = startOf(data);
    this.slices = given.series ? new Slices(given, given.series) : null;
    this.slider = given.series ? new Slider(given.series, (slice) => this.set({ slice })) : null;
    const ground = basemap && groundOf(basemap);
    this.cities = basemap?.cities ?? [];
    this.heat = new Heat(data, fields, ground && !data.tiles ? waterOver(data, ground) : null, unpacked.outline, unpacked.areas);
    this.fade = new Fade(this.heat.canvas, () => this.map?.repaint(this.heat.part));
    this.settings = new Settings(this.slices?.fullest ?? data, (part) => this.set(part));
    const onMap = [this.zoomButtons(), this.readout.tip, this.readout.cross, this.readout.spoken];
    const areas = data.areas && part("Areas and their ranges", areasTable(data.areas, (area) => this.goToArea(area)));
    this.frame = new Frame(root, { data, legend: this.legend.element, areas, slider: this.slider?.element ?? null, more: this.more(), onMap });
  }

  static async mount(root: HTMLElement, given: MapData, options: Options = {}): Promise<HeatmapView> {
    const view = new HeatmapView(root, given, await unpack(withSlice(given, 0)), options);
    await view.build();
    return view;
  }

  /** What the reader chose, to be shown by another view. */
  get state(): State {
    return { ...this.chosen };
  }

  /** Change what is shown. */
  set(part: Partial<State>): void {
    const before = this.chosen.slice;
    this.chosen = { ...this.chosen, ...part };
    if (this.chosen.slice !== before) void this.showSlice();
    if (Object.keys(part).every((name) => name === "slice")) return;
    if (this.chosen.show === "areas" && !this.unpacked.areas) this.chosen.show = "heat";
    if (part.view !== undefined) this.showView();
    this.showTheme();
    this.settings.tell(this.chosen);
    this.tellAddress();
  }

  /** Where a pixel of the heat lies in the window: the middle of it, or null without a map. */
  screenOf(row: number, column: number): { x: number; y: number } | null {
    const point = this.map?.screenOf(atFractions(this.data, (column + 0.5) / this.data.columns, (row + 0.5) / this.data.rows));
    if (!point) return null;
    const { left, top } = this.frame.stage.getBoundingClientRect();
    return { x: left + point.x, y: top + point.y };
  }

  /** Let the reader select a box or an area; `tell` is told of each choice. */
  select(tell: (chosen: Chosen) => void): void {
    const buttons = this.root.querySelector<HTMLElement>(".zoom");
    if (!this.map || !buttons || this.selects) return;
    this.selects = true;
    const areaAt = (at: LngLat) => {
      const { x, y } = fractionsAt(this.data, at);
      return this.areas?.at(x, y)?.name ?? null;
    };
    this.ends.push(selection({ data: this.data, map: this.map.map, buttons, stage: this.frame.stage, areaAt }, tell));
  }

  destroy(): void {
    this.ends.forEach((end) => end());
    this.slider?.pause();
    this.fade.stop();
    clearTimeout(this.addressDue);
    this.map?.map.remove();
    this.root.replaceChildren();
    this.root.removeAttribute("data-layout");
  }

  private async build(): Promise<void> {
    if (this.options.page) this.chosen = stateOf(location.hash, this.start);
    this.settings.tell(this.chosen);
    const embed = Boolean(this.options.page) && asksToEmbed(location);
    this.ends.push(watchLayout(this.root, embed, (layout) => this.arrange(layout)));
    const rethemed = () => this.showTheme();
    this.scheme.addEventListener("change", rethemed);
    this.ends.push(() => this.scheme.removeEventListener("change", rethemed));
    this.ends.push(onPrint(() => this.beforePrint(), () => this.afterPrint()));
    if (this.options.page) this.followAddress();
    if (this.chosen.slice !== this.start.slice) await this.showSlice();
    try {
      await this.addMap();
    } catch (error) {
      this.fallBack(error);
    }
    this.showTheme();
    this.tellAddress();
  }

  private async addMap(): Promise<void> {
    const { data, readout, unpacked, frame } = this;
    const ground = unpacked.basemap && groundOf(unpacked.basemap);
    const parts = { data, ground, context: unpacked.context, heat: this.heat.canvas, outline: unpacked.outline, background: unpacked.background };
    this.map = new HeatMap(frame.stage, parts, {
      pointed: (at, x, y) => this.point(at, x, y),
      rested: (byKeyboard, byReader) => this.rested(byKeyboard, byReader),
      resized: () => this.showView(),
    });
    if (this.map.scale) frame.area.append(this.map.scale);
    const canvas = this.map.map.getCanvas();
    canvas.setAttribute("aria-label", `${data.title}. Arrow keys move the map, plus and minus zoom.`);
    canvas.addEventListener("blur", () => readout.hideCross());
    this.showView();
    await this.map.ready;
    this.map.setLayout(this.layout);
    this.showView();
  }

  /** Without WebGL the heat itself can still be seen. */
  private fallBack(error: unknown): void {
    console.warn("The map needs WebGL; showing the heat alone.", error);
    this.map = null;
    this.heat.canvas.classList.add("plain");
    this.frame.stage.replaceChildren(this.heat.canvas, el("p", { class: "note" }, "This browser can’t draw the map itself."));
  }

  /** The slice that was chosen, as soon as it is unpacked. */
  private async showSlice(): Promise<void> {
    const { slices, slider } = this;
    if (!slices || !slider) return;
    const number = slices.numberOf(this.chosen.slice);
    slider.tell(number);
    const fields = await slices.fieldsOf(number);
    if (slices.numberOf(this.chosen.slice) !== number) return; // the reader went on
    this.data = slices.dataOf(number);
    this.unpacked.fields = fields;
    this.heat.take(this.data, fields);
    const before = this.printing ? null : this.fade.keep();
    this.showTheme();
    this.fade.from(before);
    this.places.show(this.data);
    if (this.pointedAt) this.point(...this.pointedAt);
    clearTimeout(this.addressDue);
    this.addressDue = setTimeout(() => this.tellAddress(), REST);
    slider.shown();
  }

  private arrange(layout: Layout): void {
    if (this.printing) return;
    const changed = layout !== this.layout;
    this.layout = layout;
    this.frame.arrange(layout);
    if (!changed) return;
    this.map?.setLayout(layout);
    this.showLegend();
    this.map?.map.resize();
  }

  private get ink(): Ink {
    return this.printing ? "print" : isDark(this.chosen.theme) ? "dark" : "light";
  }

  /** What the reader moved to, or all of it. */
  private showView(): void {
    if (!this.map || this.printing) return;
    const around = this.layout === "wide" ? AROUND : AROUND_SMALL;
    const first = this.layout === "wide" || this.slices ? WHOLE : this.heat.extent(this.layout === "embed" ? FEW : 0);
    this.map.fit(first, around);
    this.nearest = this.map.view.zoom;
    if (this.chosen.view) this.map.jump(this.chosen.view);
    this.paintIfStale();
  }

  private paintIfStale(): void {
    if (this.map && this.heat.isStale(this.map.seen)) this.paintHeat();
  }

  private paintHeat(ratio = Math.min(window.devicePixelRatio, SHARP)): void {
    const { map, heat, frame } = this;
    this.fade.stop();
    const [wide, high] = [frame.stage.clientWidth, (frame.stage.clientWidth * this.data.rows) / this.data.columns];
    heat.paint(this.chosen, this.ink, map?.seen ?? { part: WHOLE, wide, high }, ratio);
    map?.repaint(heat.part);
  }

  private get legendParts(): LegendParts {
    const { data, chosen, ink } = this;
    return this.areas ? legendParts(this.said, { show: "heat", smooth: false }, ink) : legendParts(data, chosen, ink);
  }

  /** What the map says: that of its heat, or that of its areas, if they are shown. */
  private get said(): MapData {
    return this.areas ? withAreas(this.data) : this.data;
  }

  /** The areas, if they are shown. */
  private get areas(): Areas | null {
    return this.chosen.show === "areas" ? this.unpacked.areas : null;
  }

  private showLegend(): void {
    this.legend.show(this.legendParts, this.printing ? "wide" : this.layout);
  }

  private showTheme(): void {
    this.root.classList.toggle("dark", this.ink === "dark");
    this.map?.setInk(this.ink);
    this.frame.say(this.said);
    this.showLegend();
    this.paintHeat();
  }

  private rested(byKeyboard: boolean, byReader: boolean): void {
    if (!this.map || this.printing) return;
    this.paintIfStale();
    if (byReader) {
      this.chosen = { ...this.chosen, view: this.map.view };
      this.tellAddress();
    }
    if (byKeyboard) this.tell(this.map.view);
  }

  private point(at: LngLat | null, x: number, y: number): void {
    this.pointedAt = at && [at, x, y];
    if (!at) return this.readout.hide();
    const { clientWidth, clientHeight } = this.frame.stage;
    this.readout.show(readingAt(this.data, this.heat, this.cities, at, this.areas), x, y, clientWidth, clientHeight);
  }

  /** Mark a point and tell what is read there, to eyes and to screen readers. */
  private tell(at: LngLat): void {
    const middle = this.map?.screenOf(at);
    if (!middle) return;
    this.readout.speak(readingAt(this.data, this.heat, this.cities, at, this.areas));
    this.readout.mark(middle.x, middle.y);
    this.point(at, middle.x, middle.y);
  }

  private go(at: LngLat): void {
    if (!this.map) return;
    if (this.layout !== "wide") this.frame.sheet.close();
    this.map.map.once("moveend", () => this.tell(at));
    this.map.go(at, this.nearest + 1);
  }

  /** Move to an area, and tell what is read there. */
  goToArea(area: AreaData): void {
    const [x, y] = this.unpacked.areas?.middleOf(area) ?? [0.5, 0.5];
    this.go(atFractions(this.data, x, y));
  }

  private search(query: string): boolean {
    const found = find(query, this.cities, atFractions(this.data, 0.5, 0.5));
    if (found) this.go(found);
    return found !== null;
  }

  private zoomButtons(): HTMLElement {
    return el(
      "div",
      { class: "zoom" },
      button("+", () => this.map?.zoom(1), { "aria-label": "Zoom in" }),
      button("−", () => this.map?.zoom(-1), { "aria-label": "Zoom out" }),
      button("⤢", () => this.set({ view: null }), { "aria-label": "Show all", class: "all" }),
    );
  }

  private more(): HTMLElement {
    const { data } = this;
    this.places.show(data);
    const names = [...new Set(this.cities.map(([name]) => name))];
    const files = el(
      "div",
      { class: "buttons" },
      button("Picture (PNG)", () => this.savePicture(), { class: "button" }),
      button("Numbers (GeoJSON)", () => this.saveGeoJson(), { class: "button" }),
    );
    const text = () => snippet(data.title, this.options.page ? pageAddress(location) : "", hashOf(this.chosen, this.start, true));
    return el(
      "div",
      { class: "more" },
      ...(names.length ? [searchField(names, (query) => this.search(query))] : []),
      this.places.element,
      part("Settings", this.settings.element),
      part("Download", files, snippetField(text)),
    );
  }

  /** What is seen goes into the address of a page of its own, and into the link from a page that embeds it. */
  private tellAddress(): void {
    if (!this.options.page) return this.frame.lead("");
    const address = pageAddress(location);
    this.frame.lead(address && address + hashOf(this.chosen, this.start));
    const hash = hashOf(this.chosen, this.start, new URLSearchParams(location.hash.slice(1)).has("embed"));
    if (window === window.top && hash !== location.hash) {
      history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
    }
  }

  /** A link to another view, opened in the same window. */
  private followAddress(): void {
    const follow = () => this.set(stateOf(location.hash, this.start));
    window.addEventListener("hashchange", follow);
    this.ends.push(() => window.removeEventListener("hashchange", follow));
  }

  /** The map alone as a picture, sharper than the screen may be. */
  private snapshot(): HTMLCanvasElement {
    const { map, said: data, ink, frame } = this;
    const ratio = SHARP;
    this.paintHeat(ratio);
    const { clientWidth: width, clientHeight: height } = frame.stage;
    const scale = map?.scale ? { text: map.scale.textContent ?? "", width: map.scale.offsetWidth } : null;
    const take = (canvas: HTMLCanvasElement) => snapshot(canvas, { data, ink, width, height, ratio, scale });
    const made = map ? map.picture(ratio, take) : take(this.heat.canvas);
    this.paintHeat();
    return made;
  }

  private beforePrint(): void {
    this.slider?.pause();
    this.printing = true;
    this.showTheme();
    this.frame.print(this.snapshot());
    this.frame.arrange("wide"); // whose parts are all there, in the order of every medium
  }

  private afterPrint(): void {
    this.frame.print(null);
    this.frame.arrange(this.layout);
    this.printing = false;
    this.showTheme();
  }

  private savePicture(): void {
    pictureOf(this.said, this.legendParts, this.ink, this.snapshot(), SHARP).toBlob((blob) => blob && save(blob, "map.png"));
  }

  private saveGeoJson(): void {
    const { title, subtitle, series } = this.data;
    const named = series ? { ...this.data, title: `${title}, ${subtitle}` } : this.data;
    const text = JSON.stringify(geoJson(named, this.unpacked.fields.values.values, this.heat));
    save(new Blob([text], { type: "application/geo+json" }), "map.geojson");
  }
}
