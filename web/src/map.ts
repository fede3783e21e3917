/** The map itself: MapLibre with the heat on it, and the keyboard's and the pointer's place on it. */
import { Map as MapLibre, NavigationControl, ScaleControl, type CanvasSource, setWorkerUrl } from "maplibre-gl";
import workerSource from "worker:maplibre";
import { inks, styleOf } from "./basemap";
import { type Basemap, type MapData } from "./data";
import { corners, type LngLat } from "./place";

/** A classic worker from the text that this bundle carries; the ending tells MapLibre that it is no module. */
export function workerUrl(): string {
  return `${URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }))}#worker.cjs`;
}

export interface MapEvents {
  /** The pointer is at a point of the map, at these pixels of the window; or it has left. */
  pointed(at: LngLat | null, x: number, y: number): void;
  /** The map came to rest after the keyboard moved it. */
  moved(centre: LngLat): void;
}

export class HeatMap {
  readonly map: MapLibre;
  readonly ready: Promise<void>;
  /** How long a distance is, where the map has any: to be shown beside it, for on it the bar would cover names. */
  readonly scale: HTMLElement | null;
  private byKeyboard = false;

  constructor(
    container: HTMLElement,
    private readonly data: MapData,
    basemap: Basemap | null,
    heat: HTMLCanvasElement,
    background: HTMLCanvasElement | null,
    events: MapEvents,
  ) {
    setWorkerUrl(workerUrl());
    this.map = new MapLibre({
      container,
      style: styleOf(data, basemap, heat, background),
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      maxPitch: 0,
      renderWorldCopies: data.kind === "bbox",
      fadeDuration: 0,
      bounds: this.bounds(),
      fitBoundsOptions: { padding: 24, animate: false },
      canvasContextAttributes: { preserveDrawingBuffer: true },
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.keyboard.disableRotation();
    this.map.addControl(new NavigationControl({ showCompass: false }), "top-left");
    this.scale = data.kind === "bbox" ? new ScaleControl({ unit: "metric", maxWidth: 100 }).onAdd(this.map) : null;
    this.ready = new Promise((resolve) => void this.map.once("load", () => resolve()));
    this.listen(events);
  }

  /** Make room for what lies over the map, and show all of the heat. */
  fit(padding: { top: number; right: number; bottom: number; left: number }): void {
    this.map.fitBounds(this.bounds(), { padding, animate: false });
  }

  /** The heat's canvas was painted anew. */
  repaint(): void {
    const source = this.map.getSource<CanvasSource>("heat");
    source?.play();
    source?.pause();
  }

  setOpacity(opacity: number): void {
    this.map.setPaintProperty("heat", "raster-opacity", opacity);
  }

  setTheme(dark: boolean): void {
    for (const [layer, property, colour] of inks(dark)) {
      if (this.map.getLayer(layer)) this.map.setPaintProperty(layer, property as "fill-color", colour);
    }
  }

  /** Where a point of the map lies in it, in pixels of the window. */
  screenOf({ lng, lat }: LngLat): { x: number; y: number } {
    const { x, y } = this.map.project([lng, lat]);
    return { x, y };
  }

  /** The map as it is seen. */
  picture(): HTMLCanvasElement {
    this.map.redraw();
    return this.map.getCanvas();
  }

  private bounds(): [[number, number], [number, number]] {
    const [, northEast, , southWest] = corners(this.data);
    return [southWest, northEast];
  }

  private listen(events: MapEvents): void {
    const canvas = this.map.getCanvas();
    this.map.on("mousemove", (event) => events.pointed(event.lngLat, event.point.x, event.point.y));
    this.map.on("click", (event) => events.pointed(event.lngLat, event.point.x, event.point.y));
    this.map.on("mouseout", () => events.pointed(null, 0, 0));
    this.map.on("movestart", () => events.pointed(null, 0, 0));
    canvas.addEventListener("keydown", () => (this.byKeyboard = true));
    canvas.addEventListener("pointerdown", () => (this.byKeyboard = false));
    const tell = () => {
      if (this.byKeyboard && document.activeElement === canvas) events.moved(this.map.getCenter());
    };
    this.map.on("moveend", tell);
    canvas.addEventListener("focus", () => {
      this.byKeyboard = canvas.matches(":focus-visible");
      tell();
    });
  }
}
