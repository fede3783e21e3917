/** The ground of a map as features: the world's land, finer in a window where it is known, and the names of places. */
import { type Basemap, type City, pointsOf } from "./data";

type Point = [lng: number, lat: number];
type Box = [west: number, south: number, east: number, north: number];
type Features = GeoJSON.FeatureCollection;

const FINE = 10_000; // steps of a degree in the window
const WORLD: Box = [-180, -90, 180, 90]; // at whose edges lands are cut
const SAME = 2e-4; // degrees: points so near an edge of the window lie on it

/** What the sources of the ground hold; `cut` is the water that the window lays over the world's land. */
export interface Ground {
  land: Features;
  cut: Features;
  fine: Features;
  coast: Features;
  rivers: Features;
  borders: Features;
  cities: Features;
}

export function groundOf(basemap: Basemap): Ground {
  const { window, fine } = basemap;
  const shores = basemap.land.map((land) => land.map((steps) => pointsOf(steps)));
  const near = (fine ?? []).map((land) => land.map((steps) => pointsOf(steps, FINE)));
  const frame = window && [ringOf(window)];
  const shore = shores.flat().flatMap((line) => offEdges(line, WORLD));
  const coast = shore.flatMap((line) => (window ? outside(line, window) : [line]));
  return {
    land: polygons(shores),
    cut: polygons(frame && fine ? [frame] : []),
    fine: polygons(frame && !fine ? [frame] : near),
    coast: lines([...coast, ...near.flat().flatMap((line) => (window ? offEdges(line, window) : [line]))]),
    rivers: lines(basemap.rivers.map((steps) => pointsOf(steps, FINE))),
    borders: lines(basemap.borders.map((steps) => pointsOf(steps))),
    cities: placesOf(basemap.cities),
  };
}

/** The parts of a line outside a box. */
export function outside(line: Point[], box: Box): Point[][] {
  const found: Point[][] = [];
  let part: Point[] = [];
  const end = () => {
    if (part.length > 1) found.push(part);
    part = [];
  };
  for (let i = 0; i + 1 < line.length; i++) {
    const [a, b] = [line[i], line[i + 1]];
    const inside = within(a, b, box);
    const at = (t: number): Point => [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t];
    if (!inside) {
      if (!part.length) part.push(a);
      part.push(b);
      continue;
    }
    if (inside[0] > 0) part.push(...(part.length ? [] : [a]), at(inside[0]));
    end();
    if (inside[1] < 1) part.push(at(inside[1]), b);
  }
  end();
  return found;
}

/** From where to where a segment is inside a box, as fractions of it (Liang and Barsky, 1984). */
function within(a: Point, b: Point, [west, south, east, north]: Box): [number, number] | null {
  let [from, to] = [0, 1];
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  for (const [p, q] of [[-dx, a[0] - west], [dx, east - a[0]], [-dy, a[1] - south], [dy, north - a[1]]]) {
    if (p === 0) {
      if (q <= 0) return null;
    } else if (p < 0) from = Math.max(from, q / p);
    else to = Math.min(to, q / p);
  }
  return from < to ? [from, to] : null;
}

/** A shore without the stretches along the window's edges, where it was cut and no coast is. */
function offEdges(line: Point[], [west, south, east, north]: Box): Point[][] {
  const on = (a: Point, b: Point, axis: 0 | 1, edge: number) => Math.abs(a[axis] - edge) < SAME && Math.abs(b[axis] - edge) < SAME;
  const found: Point[][] = [];
  let part: Point[] = [];
  for (let i = 0; i + 1 < line.length; i++) {
    const [a, b] = [line[i], line[i + 1]];
    if (on(a, b, 0, west) || on(a, b, 0, east) || on(a, b, 1, south) || on(a, b, 1, north)) {
      if (part.length) found.push(part);
      part = [];
    } else {
      if (!part.length) part.push(a);
      part.push(b);
    }
  }
  if (part.length) found.push(part);
  return found;
}

export function ringOf([west, south, east, north]: Box): Point[] {
  return [[west, south], [east, south], [east, north], [west, north], [west, south]];
}

function polygons(shapes: Point[][][]): Features {
  return collection(shapes.map((coordinates) => ({ type: "Polygon", coordinates })));
}

function lines(parts: Point[][]): Features {
  return collection(parts.map((coordinates) => ({ type: "LineString", coordinates })));
}

function collection(shapes: GeoJSON.Geometry[]): Features {
  return { type: "FeatureCollection", features: shapes.map((geometry) => ({ type: "Feature", properties: {}, geometry })) };
}

function placesOf(cities: City[]): Features {
  return {
    type: "FeatureCollection",
    features: cities.map(([name, lon, lat, population]) => ({
      type: "Feature",
      properties: { name, population },
      geometry: { type: "Point", coordinates: [lon, lat] },
    })),
  };
}
