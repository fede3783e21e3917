/** A map of the world to draw a box on. */
import type { GeoJSONSource } from "maplibre-gl";
import { inks, worldData, worldStyle } from "../basemap";
import type { Basemap } from "../data";
import { workerUrl } from "../map";
import { Map as MapLibre, NavigationControl, setWorkerUrl } from "../maplibre";

export type Box = [west: number, south: number, east: number, north: number];

type Point = { lng: number; lat: number };

const NORTHERNMOST = 85.05;
const ACCENT = "#1f5fa8";

export interface BoxMapOptions {
  name: string;
  basemap: Basemap;
  /** More detail where the map is. */
  detail(bounds: Box): Promise<Basemap>;
  drawn(box: Box): void;
  /** Drawing began or ended. */
  drawing(active: boolean): void;
}

export class BoxMap {
  readonly map: MapLibre;
  readonly ready: Promise<void>;
  private box: Box | null = null;
  private active = false;
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly rethemed = () => this.showTheme();
  private readonly pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape") this.draw(false);
  };

  constructor(container: HTMLElement, private readonly options: BoxMapOptions) {
    setWorkerUrl(workerUrl());
    this.map = new MapLibre({
      container,
      style: worldStyle(options.basemap),
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      maxPitch: 0,
      boxZoom: false,
      renderWorldCopies: false,
      fadeDuration: 0,
      center: [10, 30],
      zoom: 0.6,
      maxZoom: 18,
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.keyboard.disableRotation();
    this.map.addControl(new NavigationControl({ showCompass: false }), "top-left");
    this.map.getCanvas().setAttribute("aria-label", options.name);
    this.ready = new Promise((resolve) => void this.map.once("load", () => resolve(this.loaded())));
    this.listen();
  }

  /** Show a box, or none; with a margin in pixels, the map goes there. */
  show(wanted: Box | null, margin: number | null): void {
    const box = wanted && isOnTheMap(wanted) ? wanted : null;
    this.box = box;
    this.sketch(box);
    if (box && margin !== null) this.map.fitBounds([[box[0], box[1]], [box[2], box[3]]], { padding: margin, animate: false });
  }

  /** Draw an outline, which is no box yet. */
  private sketch(box: Box | null): void {
    this.map.getSource<GeoJSONSource>("box")?.setData(outline(box));
  }

  /** What can be seen of the world. */
  view(): Box {
    const bounds = this.map.getBounds();
    return tidy([bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()]);
  }

  /** The next drag draws a box. */
  draw(active: boolean): void {
    this.active = active;
    this.sketch(this.box); // whatever was half drawn
    const { style } = this.map.getCanvas();
    style.cursor = active ? "crosshair" : "";
    style.touchAction = active ? "none" : ""; // a finger draws, and does not move the page
    if (active) {
      this.map.dragPan.disable();
      this.map.touchZoomRotate.disable();
      document.addEventListener("keydown", this.pressed);
    } else {
      this.map.dragPan.enable();
      this.map.touchZoomRotate.enable();
      this.map.touchZoomRotate.disableRotation();
      document.removeEventListener("keydown", this.pressed);
    }
    this.options.drawing(active);
  }

  destroy(): void {
    this.scheme.removeEventListener("change", this.rethemed);
    document.removeEventListener("keydown", this.pressed);
    this.map.remove();
  }

  private loaded(): void {
    this.map.addSource("box", { type: "geojson", data: outline(this.box) });
    this.map.addLayer({ id: "drawn", type: "fill", source: "box", paint: { "fill-color": ACCENT, "fill-opacity": 0.18 } });
    this.map.addLayer({ id: "drawn-edge", type: "line", source: "box", paint: { "line-color": ACCENT, "line-width": 2 } });
    this.showTheme();
    this.scheme.addEventListener("change", this.rethemed);
    this.map.on("moveend", () => void this.refine());
    void this.refine();
  }

  private showTheme(): void {
    for (const [layer, property, colour] of inks(this.scheme.matches ? "dark" : "light")) {
      if (this.map.getLayer(layer)) this.map.setPaintProperty(layer, property as "fill-color", colour);
    }
  }

  /** Fetch the coast and the towns of what is seen, where that is not the whole world. */
  private async refine(): Promise<void> {
    if (this.map.getZoom() < 3) return;
    const at = this.map.getCenter();
    const basemap = await this.options.detail(this.view()).catch(() => null);
    const now = this.map.getCenter();
    if (!basemap || now.lng !== at.lng || now.lat !== at.lat) return;
    for (const [name, data] of Object.entries(worldData(basemap))) this.map.getSource<GeoJSONSource>(name)?.setData(data);
  }

  /** Drawing goes by one pointer, mouse, pen or finger, which is followed beyond the map's edge, too. */
  private listen(): void {
    const area = this.map.getCanvasContainer();
    let from: Point | null = null;
    const box = (to: Point): Box | null =>
      from && tidy([Math.min(from.lng, to.lng), Math.min(from.lat, to.lat), Math.max(from.lng, to.lng), Math.max(from.lat, to.lat)]);
    area.addEventListener("pointerdown", (event) => {
      if (!this.active || !event.isPrimary || event.button !== 0) return;
      from = this.under(event);
      area.setPointerCapture(event.pointerId);
    });
    area.addEventListener("pointermove", (event) => {
      if (from && this.active && event.isPrimary) this.sketch(box(this.under(event)));
    });
    area.addEventListener("pointerup", (event) => {
      if (!event.isPrimary) return;
      const made = this.active ? box(this.under(event)) : null;
      from = null;
      if (!made) return;
      this.draw(false);
      if (made[2] > made[0] && made[3] > made[1]) this.options.drawn(made);
    });
    area.addEventListener("pointercancel", () => {
      from = null;
      this.sketch(this.box);
    });
  }

  /** What lies under a pointer, or at the edge next to it. */
  private under(event: PointerEvent): Point {
    const area = this.map.getCanvas().getBoundingClientRect();
    const inside = (at: number, side: number) => Math.min(Math.max(at, 0), side);
    return this.map.unproject([inside(event.clientX - area.left, area.width), inside(event.clientY - area.top, area.height)]);
  }
}

/** Whether a box can be shown: what was typed may be anything. */
function isOnTheMap([west, south, east, north]: Box): boolean {
  return west < east && south < north && west >= -360 && east <= 360 && south >= -90 && north <= 90;
}

/** Inside the world, to a metre or so. */
function tidy(box: Box): Box {
  const clip = (value: number, most: number) => Number(Math.min(Math.max(value, -most), most).toFixed(5));
  return [clip(box[0], 180), clip(box[1], NORTHERNMOST), clip(box[2], 180), clip(box[3], NORTHERNMOST)];
}

function outline(box: Box | null): GeoJSON.FeatureCollection {
  if (!box) return { type: "FeatureCollection", features: [] };
  const [west, south, east, north] = box;
  const ring = [[west, south], [east, south], [east, north], [west, north], [west, south]];
  return {
    type: "FeatureCollection",
    features: [{ type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates: [ring] } }],
  };
}
