/** A box that the reader draws on the map, or an area that they click, for a program outside of the page. */
import type { Map as MapLibre } from "maplibre-gl";
import type { MapData } from "./data";
import { button, el } from "./dom";
import { fractionsAt, type LngLat } from "./place";

/** A box in the place's own coordinates, x0, y0, x1, y1; or an area by its name; or nothing. */
export type Chosen = { box: number[] } | { area: string } | null;

export interface Selectable {
  data: MapData;
  map: MapLibre;
  /** Where buttons are, and where the map is. */
  buttons: HTMLElement;
  stage: HTMLElement;
  /** The name of the area at a point, if areas are shown. */
  areaAt(at: LngLat): string | null;
}

const LEAST = 4; // pixels: what is shorter is a click

/** Let the reader select; `tell` is told of each choice. Returns what ends it. */
export function selection(from: Selectable, tell: (chosen: Chosen) => void): () => void {
  const { map, stage } = from;
  const box = el("div", { class: "selected", hidden: "" });
  const toggle = button("⬚", () => choose(!on), { "aria-label": "Select a box", "aria-pressed": "false", class: "select" });
  let on = false;
  let start: { x: number; y: number } | null = null;
  let drawn: [LngLat, LngLat] | null = null;

  const choose = (chosen: boolean) => {
    on = chosen;
    toggle.setAttribute("aria-pressed", String(on));
    stage.classList.toggle("selecting", on);
    if (on) map.dragPan.disable();
    else map.dragPan.enable();
  };
  const place = (a: { x: number; y: number }, b: { x: number; y: number }) => {
    box.hidden = false;
    box.style.left = `${Math.min(a.x, b.x)}px`;
    box.style.top = `${Math.min(a.y, b.y)}px`;
    box.style.width = `${Math.abs(a.x - b.x)}px`;
    box.style.height = `${Math.abs(a.y - b.y)}px`;
  };
  const follow = () => drawn && place(map.project(drawn[0]), map.project(drawn[1]));
  const at = (event: PointerEvent) => {
    const { left, top } = stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const down = (event: PointerEvent) => {
    if (!on || event.button !== 0) return;
    start = at(event);
    stage.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (start) place(start, at(event));
  };
  const up = (event: PointerEvent) => {
    if (!start) return;
    const [first, last] = [start, at(event)];
    start = null;
    if (Math.abs(first.x - last.x) < LEAST || Math.abs(first.y - last.y) < LEAST) return follow() ?? void (box.hidden = true);
    drawn = [map.unproject([first.x, first.y]), map.unproject([last.x, last.y])];
    choose(false);
    tell({ box: boxOf(from.data, ...drawn) });
  };
  const clicked = ({ lngLat }: { lngLat: LngLat }) => {
    if (on) return;
    const area = from.areaAt(lngLat);
    if (area === null && !drawn) return;
    drawn = null;
    box.hidden = true;
    tell(area === null ? null : { area });
  };
  const key = (event: KeyboardEvent) => event.key === "Escape" && choose(false);

  from.buttons.append(toggle);
  stage.append(box);
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", move);
  stage.addEventListener("pointerup", up);
  stage.ownerDocument.addEventListener("keydown", key);
  map.on("move", follow);
  map.on("click", clicked);
  return () => {
    choose(false);
    toggle.remove();
    box.remove();
    stage.ownerDocument.removeEventListener("keydown", key);
    map.off("move", follow);
    map.off("click", clicked);
  };
}

/** The box between two points of the map, in the place's own coordinates, and no larger than the place. */
export function boxOf(data: MapData, a: LngLat, b: LngLat): number[] {
  const [x0, y0, x1, y1] = data.bounds;
  const own = (point: LngLat) => {
    const { x, y } = fractionsAt(data, point);
    const inside = (part: number) => Math.min(Math.max(part, 0), 1);
    const across = x0 + (x1 - x0) * inside(x);
    if (data.kind !== "bbox") return [across, y0 + (y1 - y0) * inside(y)];
    return [across, Math.min(Math.max(point.lat, y0), y1)];
  };
  const [one, other] = [own(a), own(b)];
  return [0, 1].map((k) => Math.min(one[k], other[k])).concat([0, 1].map((k) => Math.max(one[k], other[k])));
}
