/**
 * The map as a component: `await HeatmapView.mount(element, data)` fills an element with the heat, its legend, its
 * controls and its privacy label; `set` changes what is shown, `destroy` takes everything away again.
 */
import { type Basemap, bytesOf, decodeBasemap, decodeBits, decodeLayer, type MapData } from "./data";
import { el } from "./dom";
import { geoJson, pictureWithCaption, save } from "./download";
import { privacyLabel } from "./label";
import { Legend } from "./legend";
import { HeatMap } from "./map";
import { isColourless, paint } from "./paint";
import { controls } from "./panel";
import { type LngLat, pixelAt, placeInWords, toLngLat } from "./place";
import { type Reading, Readout } from "./readout";
import { type Axis, axisOf, withUncertainty, words } from "./scale";
import { isDark, startOf, type State } from "./state";

interface Layers {
  values: Float32Array;
  std: Float32Array | null;
  clear: Uint8Array | null;
}

export class HeatmapView {
  private state: State;
  private readonly heat = el("canvas", {});
  private readonly legend = new Legend();
  private readonly readout = new Readout();
  private readonly colours: Uint8Array[];
  private readonly stage = el("div", { class: "stage" });
  private readonly panel = el("section", { class: "panel", "aria-label": "Legend and controls" });
  private readonly foot = el("div", { class: "foot" });
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly rethemed = () => this.showTheme();
  private map: HeatMap | null = null;

  private constructor(
    private readonly root: HTMLElement,
    private readonly data: MapData,
    private readonly layers: Layers,
  ) {
    this.state = startOf(data);
    this.colours = data.scales.map((scale) => bytesOf(scale.colours));
    [this.heat.width, this.heat.height] = [data.columns, data.rows];
  }

  static async mount(root: HTMLElement, data: MapData): Promise<HeatmapView> {
    const [values, std, clear, basemap, background] = await Promise.all([
      decodeLayer(data.values, data.rows, data.columns),
      data.std && decodeLayer(data.std, data.rows, data.columns),
      data.clear && decodeBits(data.clear, data.rows * data.columns),
      data.basemap ? decodeBasemap(data.basemap) : null,
      data.background ? pictureOf(data.background) : null,
    ]);
    const view = new HeatmapView(root, data, { values, std: std || null, clear: clear || null });
    await view.build(basemap, background);
    return view;
  }

  /** Change what is shown. */
  set(part: Partial<State>): void {
    this.state = { ...this.state, ...part };
    if (part.opacity !== undefined) this.map?.setOpacity(this.state.opacity);
    if (part.theme !== undefined) this.showTheme();
    if (Object.keys(part).some((name) => name !== "opacity" && name !== "theme")) this.showHeat();
  }

  /** Where a pixel of the heat lies in the window: the middle of it, or null without a map. */
  screenOf(row: number, column: number): { x: number; y: number } | null {
    const [left, top, right, bottom] = this.data.place;
    const x = left + ((right - left) * (column + 0.5)) / this.data.columns;
    const y = top + ((bottom - top) * (row + 0.5)) / this.data.rows;
    return this.map?.screenOf(toLngLat(x, y)) ?? null;
  }

  destroy(): void {
    this.scheme.removeEventListener("change", this.rethemed);
    this.map?.map.remove();
    this.root.replaceChildren();
  }

  private async build(basemap: Basemap | null, background: HTMLCanvasElement | null): Promise<void> {
    const { data, readout } = this;
    this.root.classList.add("dpheatmap");
    const { open, dialog } = privacyLabel(data);
    const settings = el("details", { class: "settings" }, el("summary", {}, "Settings"), controls(data, this.state, {
      change: (part) => this.set(part),
      savePicture: () => this.savePicture(),
      saveGeoJson: () => this.saveGeoJson(),
      showAll: () => this.fit(),
    }));
    settings.open = this.root.clientWidth > 700 && this.root.clientHeight > 600;
    this.panel.append(
      el("h1", {}, data.title),
      ...data.warnings.map((text) => el("p", { class: "warning" }, text)),
      this.legend.element,
      settings,
      el("ul", { class: "facts" }, ...data.facts.map((fact) => el("li", {}, fact))),
      this.foot,
    );
    this.foot.append(open);
    const credits = el("p", { class: "credits" }, [...data.credits, ...(data.tiles ? [data.tiles.credit] : [])].join(" · "));
    this.root.replaceChildren(this.stage, this.panel, credits, readout.tip, readout.cross, readout.spoken, dialog);
    this.showHeat();
    this.showTheme();
    this.scheme.addEventListener("change", this.rethemed);
    try {
      await this.addMap(basemap, background);
    } catch (error) {
      this.fallBack(error);
    }
  }

  private async addMap(basemap: Basemap | null, background: HTMLCanvasElement | null): Promise<void> {
    this.map = new HeatMap(this.stage, this.data, basemap, this.heat, background, {
      pointed: (at, x, y) => this.point(at, x, y),
      moved: (centre) => this.speak(centre),
    });
    if (this.map.scale) this.foot.append(this.map.scale);
    const canvas = this.map.map.getCanvas();
    canvas.setAttribute("aria-label", `${this.data.title}. Arrow keys move the map, plus and minus zoom.`);
    canvas.addEventListener("blur", () => (this.readout.cross.hidden = true));
    this.fit();
    await this.map.ready;
    this.map.setOpacity(this.state.opacity);
    this.showTheme();
  }

  /** Without WebGL the heat itself can still be seen. */
  private fallBack(error: unknown): void {
    console.warn("The map needs WebGL; showing the heat alone.", error);
    this.map = null;
    this.heat.classList.add("plain");
    this.stage.replaceChildren(this.heat, el("p", { class: "warning" }, "This browser can't draw the map itself."));
  }

  /** All of the heat beside the panel, or below it where there is no room beside it. */
  private fit(): void {
    const whole = this.root.getBoundingClientRect();
    const panel = this.panel.getBoundingClientRect();
    const beside = panel.width < whole.width / 2;
    const edge = 28;
    this.map?.fit({
      top: edge,
      left: edge + 20,
      right: edge + (beside ? panel.width : 0),
      bottom: edge + 8 + (beside ? 0 : whole.bottom - panel.top),
    });
  }

  private get axis(): Axis {
    const { std, top, signed } = this.data;
    return this.state.layer === "std" && std
      ? axisOf(this.state.axis, std.largest, false)
      : axisOf(this.state.axis, top, signed);
  }

  /** Differences have their own colours about zero, the first; their standard deviation has the second. */
  private get chosenColours(): Uint8Array {
    return this.colours[this.data.signed && this.state.layer === "std" ? 1 : this.state.colours];
  }

  private get legendName(): string {
    const unit = this.state.layer === "std" ? `Standard deviation, ${this.data.unit}` : this.data.unit;
    const scale = `${unit}, ${this.axis.kind === "log" ? "logarithmic" : "linear"} scale`;
    return this.state.grey && this.data.clear ? `${scale}; ${this.leftOut ? "left out" : "grey"}: ${this.data.quiet}` : scale;
  }

  /** Whether what is within the noise is left out: over something that shows through, or where grey is a colour. */
  private get leftOut(): boolean {
    return this.state.fade || isColourless(this.chosenColours);
  }

  private showHeat(): void {
    const { values, std, clear } = this.layers;
    const context = this.heat.getContext("2d");
    if (!context) return;
    const image = context.createImageData(this.data.columns, this.data.rows);
    const shown = (this.state.layer === "std" && std) || values;
    const { axis, chosenColours: colours, leftOut } = this;
    paint(image.data, { values: shown, axis, colours, clear: this.state.grey ? clear : null, leftOut, fade: this.state.fade });
    context.putImageData(image, 0, 0);
    this.map?.repaint();
    const noise = this.state.layer === "std" ? null : this.data.noise;
    this.legend.show({ axis, colours, name: this.legendName, noise });
  }

  private showTheme(): void {
    const dark = isDark(this.state.theme);
    this.root.classList.toggle("dark", dark);
    this.map?.setTheme(dark);
  }

  private read(at: LngLat): Reading | null {
    const pixel = pixelAt(this.data, at);
    if (!pixel) return null;
    const i = pixel.row * this.data.columns + pixel.column;
    const { values, std, clear } = this.layers;
    const lone = this.state.layer === "std" && std;
    return {
      value: lone ? `± ${words(std[i])}` : withUncertainty(values[i], std && std[i]),
      unit: this.data.unit,
      note: clear && !clear[i] ? this.data.quiet : "",
      place: placeInWords(this.data, pixel.row, pixel.column),
    };
  }

  private point(at: LngLat | null, x: number, y: number): void {
    const reading = at && this.read(at);
    if (!reading) this.readout.hide();
    else this.readout.show(reading, x, y, this.stage.clientWidth, this.stage.clientHeight);
  }

  private speak(centre: LngLat): void {
    const middle = this.map?.screenOf(centre);
    const reading = this.read(centre);
    this.readout.speak(reading);
    this.readout.cross.hidden = false;
    if (middle) {
      this.readout.cross.style.left = `${middle.x}px`;
      this.readout.cross.style.top = `${middle.y}px`;
      this.point(centre, middle.x, middle.y);
    }
  }

  private savePicture(): void {
    const picture = this.map ? this.map.picture() : this.heat;
    const lines = [...this.data.warnings, this.data.facts.join(" · "), this.data.credits.join(" · ")];
    const caption = { title: this.data.title, name: this.legendName, axis: this.axis, colours: this.chosenColours, lines };
    pictureWithCaption(picture, caption).toBlob((blob) => blob && save(blob, "map.png"));
  }

  private saveGeoJson(): void {
    const text = JSON.stringify(geoJson(this.data, this.layers.values, this.layers.std));
    save(new Blob([text], { type: "application/geo+json" }), "map.geojson");
  }
}

/** A picture that the page carries, as a canvas. */
async function pictureOf(url: string): Promise<HTMLCanvasElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = el("canvas", { width: String(image.naturalWidth), height: String(image.naturalHeight) });
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return canvas;
}
