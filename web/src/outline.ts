/** The boundary of a place: what lies outside of it is never painted, and under a veil. */
import { pointsOf } from "./data";
import { atFractions, type Part } from "./place";
import type { MapData } from "./data";

const STEPS = 100_000; // of the heat's width and height

type Ring = [x: number, y: number][];

export class Outline {
  /** Rings in fractions of the heat's width and height, closed; those of holes run the other way round. */
  readonly rings: Ring[];
  private readonly path = new Path2D();
  private readonly test = document.createElement("canvas").getContext("2d");

  constructor(steps: number[][]) {
    this.rings = steps.map((ring) => pointsOf(ring, STEPS));
    for (const ring of this.rings) {
      ring.forEach(([x, y], i) => (i ? this.path.lineTo(x, y) : this.path.moveTo(x, y)));
      this.path.closePath();
    }
  }

  /** Whether a point, in fractions of the heat's width and height, lies inside. */
  holds(x: number, y: number): boolean {
    return this.test?.isPointInPath(this.path, x, y) ?? true;
  }

  /** Clear what a canvas shows of a part of the heat outside of the boundary. */
  clip(context: CanvasRenderingContext2D, part: Part): void {
    const { width, height } = context.canvas;
    const [wide, high] = [width / (part.x1 - part.x0), height / (part.y1 - part.y0)];
    context.save();
    context.setTransform(wide, 0, 0, high, -part.x0 * wide, -part.y0 * high);
    context.globalCompositeOperation = "destination-in";
    context.globalAlpha = 1;
    context.fillStyle = "#000";
    context.fill(this.path);
    context.restore();
  }
}

/** The rings around a map in longitudes and latitudes: those of its outline, or its four edges. */
export function ringsOf(data: MapData, outline: Outline | null): { outer: GeoJSON.Position[][]; holes: GeoJSON.Position[][] } {
  const edges: Ring[] = [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]];
  const [outer, holes]: [GeoJSON.Position[][], GeoJSON.Position[][]] = [[], []];
  for (const ring of outline?.rings ?? edges) {
    const placed = ring.map(([x, y]) => {
      const { lng, lat } = atFractions(data, x, y);
      return [lng, lat];
    });
    (turn(ring) > 0 ? outer : holes).push(placed);
  }
  return { outer, holes };
}

/** Above 0 for a ring that runs clockwise, as rows grow downward. */
function turn(ring: Ring): number {
  return ring.reduce((sum, [x, y], i) => (i ? sum + (ring[i - 1][0] + x) * (y - ring[i - 1][1]) : 0), 0);
}
