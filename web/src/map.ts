/** The map itself: MapLibre with the heat on it, and the keyboard's and the pointer's place on it. */
import type { CanvasSource } from "maplibre-gl";
import { inksOf, nameSizes, type Parts, styleOf } from "./basemap";
import type { Seen } from "./heat";
import type { Ink } from "./inks";
import type { Layout } from "./layout";
import { Map as MapLibre, ScaleControl, setWorkerUrl, workerSource } from "./maplibre";
import { corners, fractionsAt, type LngLat, type Part } from "./place";
import type { View } from "./state";

/** A classic worker from its text; the ending tells MapLibre that it is no module. */
export function workerUrl(): string {
  return `${URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }))}#worker.cjs`;
}

export interface MapEvents {
  /** The pointer is at a point of the map, at these pixels of it; or it has left. */
  pointed(at: LngLat | null, x: number, y: number): void;
  /** The map came to rest, by the keyboard or not, by the reader or not. */
  rested(byKeyboard: boolean, byReader: boolean): void;
  /** The room of the map has changed. */
  resized(): void;
}

const TILE = 512; // pixels of the whole world at zoom 0
const READER = { reader: true }; // marks a move that the reader asked for

export class HeatMap {
  readonly map: MapLibre;
  readonly ready: Promise<void>;
  /** How long a distance is, where the map has any. */
  readonly scale: HTMLElement | null;
  private byKeyboard = false;

  constructor(container: HTMLElement, private readonly parts: Parts, events: MapEvents) {
    const { data } = parts;
    setWorkerUrl(workerUrl());
    this.map = new MapLibre({
      container,
      style: styleOf(parts),
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      maxPitch: 0,
      renderWorldCopies: data.kind === "bbox",
      fadeDuration: 0,
      center: corners(data)[0],
      canvasContextAttributes: { preserveDrawingBuffer: true },
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.keyboard.disableRotation();
    this.scale = data.kind === "bbox" ? new ScaleControl({ unit: "metric", maxWidth: 90 }).onAdd(this.map) : null;
    this.ready = new Promise((resolve) => void this.map.once("load", () => resolve()));
    this.listen(events);
  }

  /** Show all of a part of the heat, with so many pixels around it, and more below, where the credits are. */
  fit(part: Part, around: number): void {
    const [, northEast, , southWest] = corners(this.parts.data, part);
    const buttons = this.parts.data.kind === "bbox" ? 0 : 46; // a picture may have something in its corner
    const padding = { top: around, left: around, right: around + buttons, bottom: around + 12 };
    this.map.fitBounds([southWest, northEast], { padding, animate: false });
  }

  get view(): View {
    const { lng, lat } = this.map.getCenter();
    return { lng, lat, zoom: this.map.getZoom() };
  }

  jump({ lng, lat, zoom }: View): void {
    this.map.jumpTo({ center: [lng, lat], zoom });
  }

  /** Go to a point, and near it. */
  go({ lng, lat }: LngLat, nearest: number): void {
    this.map.easeTo({ center: [lng, lat], zoom: Math.max(this.map.getZoom(), nearest), duration: 600 }, READER);
  }

  zoom(by: number): void {
    this.map.easeTo({ zoom: this.map.getZoom() + by, duration: 300 }, READER);
  }

  /** The part of the heat that is seen, and how large the whole of it is on the screen. */
  get seen(): Seen {
    const { data } = this.parts;
    const [left, top, right, bottom] = data.place;
    const { width, height } = this.map.getCanvas().getBoundingClientRect();
    const pixels = TILE * 2 ** this.map.getZoom();
    const middle = fractionsAt(data, this.map.getCenter());
    const [wide, high] = [(right - left) * pixels, (bottom - top) * pixels];
    const [x, y] = [width / 2 / wide, height / 2 / high];
    return { part: { x0: middle.x - x, y0: middle.y - y, x1: middle.x + x, y1: middle.y + y }, wide, high };
  }

  /** The heat's canvas was painted anew, with a part of the heat. */
  repaint(part: Part): void {
    const source = this.map.getSource<CanvasSource>("heat");
    source?.setCoordinates(corners(this.parts.data, part));
    source?.play();
    source?.pause();
  }

  setInk(ink: Ink): void {
    for (const [layer, property, colour] of inksOf(this.parts.data, this.parts.context, ink)) {
      if (this.map.getLayer(layer)) this.map.setPaintProperty(layer, property as "fill-color", colour);
    }
  }

  setLayout(layout: Layout): void {
    if (this.map.getLayer("names")) this.map.setLayoutProperty("names", "text-size", nameSizes(layout));
    const gestures = this.map.cooperativeGestures;
    if (layout === "embed") gestures.enable();
    else gestures.disable();
  }

  /** Where a point of the map lies in it, in pixels. */
  screenOf({ lng, lat }: LngLat): { x: number; y: number } {
    const { x, y } = this.map.project([lng, lat]);
    return { x, y };
  }

  /** What is seen, with so many pixels for each of the screen's; `use` gets it before it is gone. */
  picture<T>(ratio: number, use: (canvas: HTMLCanvasElement) => T): T {
    const usual = this.map.getPixelRatio();
    this.map.setPixelRatio(ratio);
    this.map.redraw();
    const made = use(this.map.getCanvas());
    this.map.setPixelRatio(usual);
    this.map.redraw();
    return made;
  }

  private listen(events: MapEvents): void {
    const canvas = this.map.getCanvas();
    this.map.on("mousemove", (event) => events.pointed(event.lngLat, event.point.x, event.point.y));
    this.map.on("click", (event) => events.pointed(event.lngLat, event.point.x, event.point.y));
    this.map.on("mouseout", () => events.pointed(null, 0, 0));
    this.map.on("movestart", () => events.pointed(null, 0, 0));
    this.map.on("resize", () => events.resized());
    canvas.addEventListener("keydown", () => (this.byKeyboard = true));
    canvas.addEventListener("pointerdown", () => (this.byKeyboard = false));
    const rested = (byReader: boolean) => events.rested(this.byKeyboard && document.activeElement === canvas, byReader);
    this.map.on("moveend", (event) => rested("originalEvent" in event || "reader" in event));
    canvas.addEventListener("focus", () => {
      this.byKeyboard = canvas.matches(":focus-visible");
      rested(false);
    });
  }
}
