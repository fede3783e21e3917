/** Water over the heat: it tells that what smoothing spilled over a river is no crowd of swimmers. */
import type { MapData } from "./data";
import type { Ground } from "./ground";
import { type Part, toSquare } from "./place";

const OPACITY = 0.7;

/** Draws water over what a canvas shows of a part of the map, and nowhere else. */
export type DrawWater = (canvas: HTMLCanvasElement, part: Part, colour: string) => void;

export function waterOver(data: MapData, ground: Ground): DrawWater {
  const [land, cut, fine] = [ground.land, ground.cut, ground.fine].map((shapes) => pathOf(data, shapes));
  const whole = new Path2D();
  whole.rect(-1, -1, 3, 3);
  return (canvas, part, colour) => {
    const mask = document.createElement("canvas");
    [mask.width, mask.height] = [canvas.width, canvas.height];
    const [drawn, target] = [mask.getContext("2d"), canvas.getContext("2d")];
    if (!drawn || !target) return;
    const [wide, high] = [canvas.width / (part.x1 - part.x0), canvas.height / (part.y1 - part.y0)];
    drawn.setTransform(wide, 0, 0, high, -part.x0 * wide, -part.y0 * high);
    drawn.fillStyle = colour;
    const layers: [Path2D, GlobalCompositeOperation][] = [
      [whole, "source-over"],
      [land, "destination-out"],
      [cut, "source-over"],
      [fine, "destination-out"],
    ];
    for (const [path, how] of layers) {
      drawn.globalCompositeOperation = how;
      drawn.fill(path, "evenodd");
    }
    target.save();
    target.globalCompositeOperation = "source-atop";
    target.globalAlpha = OPACITY;
    target.drawImage(mask, 0, 0);
    target.restore();
  };
}

/** Polygons that reach into the map, in fractions of its width and height. */
function pathOf(data: MapData, { features }: GeoJSON.FeatureCollection): Path2D {
  const path = new Path2D();
  const turns = data.place[2] > 1 ? [0, 1] : [0]; // land beyond the antimeridian is that of the next copy of the world
  for (const { geometry } of features) {
    if (geometry.type !== "Polygon") continue;
    for (const turn of turns) {
      const rings = geometry.coordinates.map((ring) => ring.map(([lng, lat]) => placed(data, lng + 360 * turn, lat)));
      if (!reaches(rings[0])) continue;
      for (const ring of rings) {
        ring.forEach(({ x, y }, i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
        path.closePath();
      }
    }
  }
  return path;
}

/** A point as fractions of the heat's width and height, on the copy of the world that it is on. */
function placed({ place: [left, top, right, bottom] }: MapData, lng: number, lat: number): { x: number; y: number } {
  const { x, y } = toSquare({ lng, lat });
  return { x: (x - left) / (right - left), y: (y - top) / (bottom - top) };
}

function reaches(ring: { x: number; y: number }[]): boolean {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of ring) {
    [x0, y0] = [Math.min(x0, x), Math.min(y0, y)];
    [x1, y1] = [Math.max(x1, x), Math.max(y1, y)];
  }
  return x0 < 1 && x1 > 0 && y0 < 1 && y1 > 0;
}

