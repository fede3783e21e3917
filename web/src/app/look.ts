/** How a map is shown: what its reader chose and where they went on it. It outlasts the map that is drawn anew. */
import type { HeatmapView } from "../component";

/** The component's state, as it is stored: names and plain values, which another edition may not know. */
export type Look = Record<string, unknown>;

export interface Camera {
  getCenter(): { lng: number; lat: number };
  getZoom(): number;
  jumpTo(to: { center: [number, number]; zoom: number }): void;
  on(event: "move", action: () => void): void;
}

/** What its reader chose. */
export const lookOf = (view: HeatmapView): Look => ({ ...view.state });

/** The map's camera, which two maps that move together share; null where there is only a picture. */
export const cameraOf = (view: HeatmapView): Camera | null => (view as unknown as { map: { map: Camera } | null }).map?.map ?? null;

/** Show a map as another one was shown, as far as it knows the choices. */
export function wear(view: HeatmapView, look: Look): void {
  const now = lookOf(view);
  const known = Object.entries(look).filter(([name, value]) => name in now && typeof now[name] === typeof value);
  if (known.length) view.set(Object.fromEntries(known));
}

/** Move a map to where another one is. */
export function moveTo(to: Camera, from: Camera): void {
  const { lng, lat } = from.getCenter();
  to.jumpTo({ center: [lng, lat], zoom: from.getZoom() });
}
