/** What lies under and over the heat, as a style of MapLibre's: ground, own context, box and names. */
import type { ExpressionSpecification, LayerSpecification, SourceSpecification, StyleSpecification } from "maplibre-gl";
import type { Basemap, ContextLayer, MapData } from "./data";
import { type Ground, groundOf } from "./ground";
import { type Ink, type Inks, INKS } from "./inks";
import type { Layout } from "./layout";
import { type Outline, ringsOf } from "./outline";
import { atOwn, corners } from "./place";

/** A layer of the user's own, unpacked. */
export interface Context extends Omit<ContextLayer, "data"> {
  features: GeoJSON.FeatureCollection;
}

type Sources = Record<string, SourceSpecification>;
type Layers = LayerSpecification[];

/** Which ink paints which layer; context layers are added by their kinds. */
const PAINTS: [layer: string, property: string, ink: keyof Inks][] = [
  ["land", "fill-color", "land"],
  ["cut", "fill-color", "water"],
  ["fine", "fill-color", "land"],
  ["plane", "fill-color", "land"],
  ["coast", "line-color", "coast"],
  ["rivers", "line-color", "coast"],
  ["borders", "line-color", "coast"],
  ["veil", "fill-color", "page"],
  ["box", "line-color", "box"],
  ["names", "text-color", "name"],
  ["names", "text-halo-color", "halo"],
];

/** The colours of the ground, as paint properties of layers. */
export function inks(ink: Ink): [layer: string, property: string, colour: string][] {
  const chosen = INKS[ink];
  return [["sea", "background-color", chosen.water], ...PAINTS.map(([layer, property, name]): [string, string, string] => [layer, property, chosen[name]])];
}

/** The same for a map: what has no ground lies on the page, and the user's own layers have their inks. */
export function inksOf(data: MapData, context: Context[], ink: Ink): [layer: string, property: string, colour: string][] {
  const chosen = INKS[ink];
  const own = context.flatMap(({ kind }, i): [string, string, string][] => {
    if (kind === "water" || kind === "park" || kind === "land") return [[`own-${i}`, "fill-color", chosen[kind]]];
    if (kind === "point") return [[`own-${i}`, "circle-color", chosen.border], ...namesOfOwn(i, chosen)];
    if (kind === "road") return [[`own-${i}-casing`, "line-color", chosen.casing], [`own-${i}`, "line-color", chosen.road]];
    return [[`own-${i}`, "line-color", chosen.border], ...namesOfOwn(i, chosen)];
  });
  const sea: [string, string, string][] = data.basemap ? [] : [["sea", "background-color", chosen.page]];
  return [...inks(ink), ...sea, ...own];
}

function namesOfOwn(i: number, chosen: Inks): [string, string, string][] {
  return [[`own-${i}-names`, "text-color", chosen.name], [`own-${i}-names`, "text-halo-color", chosen.halo]];
}

export interface Parts {
  data: MapData;
  ground: Ground | null;
  context: Context[];
  heat: HTMLCanvasElement;
  outline: Outline | null;
  background: HTMLCanvasElement | null;
}

export function styleOf({ data, ground, context, heat, outline, background }: Parts): StyleSpecification {
  const place = corners(data);
  const { outer, holes } = ringsOf(data, outline);
  const sources: Sources = {
    heat: { type: "canvas", canvas: heat, animate: false, coordinates: place } as unknown as SourceSpecification,
    box: { type: "geojson", data: polygons([...outer, ...holes].map((ring) => [ring])) },
  };
  const below: Layers = [{ id: "sea", type: "background" }];
  const above: Layers = [];
  const names: Layers = [];
  if (ground) addGround(ground, sources, below, data.tiles ? [] : above, data.tiles ? [] : names);
  else below.push({ id: "plane", type: "fill", source: "box" });
  context.forEach((layer, i) => addContext(data, layer, i, sources, below, above, names));
  if (data.tiles) {
    sources.tiles = { type: "raster", tiles: [data.tiles.url], tileSize: 256, maxzoom: 19 };
    below.push({ id: "tiles", type: "raster", source: "tiles" });
  }
  if (background) {
    const spec = { type: "canvas", canvas: background, animate: false, coordinates: place };
    sources.background = spec as unknown as SourceSpecification;
    below.push({ id: "background", type: "raster", source: "background", paint: { "raster-fade-duration": 0 } });
  }
  const layers: Layers = [
    ...below,
    { id: "heat", type: "raster", source: "heat", paint: { "raster-fade-duration": 0 } },
    ...above,
  ];
  if (ground) {
    sources.veil = { type: "geojson", data: polygons([[worldAround(data), ...outer], ...holes.map((hole) => [[...hole].reverse()])]) };
    layers.push({ id: "veil", type: "fill", source: "veil", paint: { "fill-opacity": 0.45, "fill-antialias": false } });
  }
  const dotted = ground ? { "line-dasharray": [2, 3] } : {};
  layers.push({ id: "box", type: "line", source: "box", paint: { "line-width": 1, ...dotted } }, ...names);
  return { version: 8, transition: { duration: 0, delay: 0 }, sources, layers };
}

/** The world alone. */
export function worldStyle(basemap: Basemap): StyleSpecification {
  const sources: Sources = {};
  const below: Layers = [{ id: "sea", type: "background" }];
  const above: Layers = [];
  addGround(groundOf(basemap), sources, below, above, above);
  return { version: 8, transition: { duration: 0, delay: 0 }, sources, layers: [...below, ...above] };
}

/** What the sources of the world hold, for more detail later. */
export function worldData(basemap: Basemap): Record<string, GeoJSON.FeatureCollection> {
  return { ...groundOf(basemap) };
}

function addGround(ground: Ground, sources: Sources, below: Layers, above: Layers, names: Layers): void {
  for (const [name, features] of Object.entries(ground)) {
    sources[name] = { type: "geojson", data: features as GeoJSON.FeatureCollection, tolerance: 0.1 };
  }
  below.push(...["land", "cut", "fine"].map((id) => ({ id, type: "fill" as const, source: id, paint: { "fill-antialias": false } })));
  above.push(
    { id: "coast", type: "line", source: "coast", paint: { "line-width": 0.8 } },
    { id: "rivers", type: "line", source: "rivers", paint: { "line-width": 1.1 } },
    { id: "borders", type: "line", source: "borders", paint: { "line-width": 1.1, "line-dasharray": [4, 2] } },
  );
  const semibold = ["literal", ["Inter SemiBold", "Inter", "sans-serif"]];
  names.push({
    id: "names",
    type: "symbol",
    source: "cities",
    layout: {
      "text-field": ["get", "name"],
      "text-font": ["step", ["get", "population"], ["literal", ["Inter", "sans-serif"]], LARGEST, semibold] as never,
      "text-size": nameSizes("wide"),
      "text-padding": 8,
      "symbol-sort-key": ["-", ["get", "population"]],
    },
    paint: { "text-halo-width": 1.6 },
  });
}

const [LARGEST, LARGE] = [1_400_000, 200_000]; // people
const SIZES: Record<Layout, [largest: number, large: number, rest: number]> = {
  wide: [16, 13, 11.5],
  narrow: [14, 12.5, 11.5],
  embed: [13, 11.5, 10.5],
};

/** The letters of names, by population and by the room that the map has. */
export function nameSizes(layout: Layout): ExpressionSpecification {
  const [largest, large, rest] = SIZES[layout];
  return ["step", ["get", "population"], rest, LARGE, large, LARGEST, largest];
}

/** A layer of the user's own: fills below the heat, lines and names above it. */
function addContext(data: MapData, { kind, features }: Context, i: number, sources: Sources, below: Layers, above: Layers, names: Layers): void {
  const source = `own-${i}`;
  sources[source] = { type: "geojson", data: onMap(data, features), tolerance: 0.2 };
  const rank = (widths: [number, number, number]) => ["match", ["coalesce", ["get", "rank"], 3], 1, widths[0], 2, widths[1], widths[2]] as never;
  switch (kind) {
    case "water":
    case "park":
    case "land":
      below.push({ id: source, type: "fill", source });
      return;
    case "road":
      below.push(
        { id: `${source}-casing`, type: "line", source, paint: { "line-width": rank([4.4, 3.2, 2]) } },
        { id: source, type: "line", source, paint: { "line-width": rank([3, 2, 1]) } },
      );
      return;
    case "point":
      above.push({ id: source, type: "circle", source, paint: { "circle-radius": 3 } });
      names.push(ownNames(source, "Inter", 11.5, {}));
      return;
    default:
      above.push({ id: source, type: "line", source, paint: { "line-width": 1.1, ...(kind === "rail" ? { "line-dasharray": [5, 2] } : {}) } });
      names.push(ownNames(source, "Inter SemiBold", 11, { "text-transform": "uppercase", "text-letter-spacing": 0.12 }));
  }
}

function ownNames(source: string, font: string, size: number, more: object): LayerSpecification {
  const layout = { "text-field": ["get", "name"], "text-font": [font, "Inter", "sans-serif"], "text-size": size, "text-offset": [0, 0.9], ...more };
  return { id: `${source}-names`, type: "symbol", source, layout: layout as never, paint: { "text-halo-width": 1.6 } };
}

/** Features in the domain's own coordinates, on the map. */
function onMap(data: MapData, features: GeoJSON.FeatureCollection): GeoJSON.FeatureCollection {
  if (data.kind === "bbox") return features;
  const moved = (part: unknown): unknown => {
    if (!Array.isArray(part)) return part;
    if (typeof part[0] !== "number") return part.map(moved);
    const { lng, lat } = atOwn(data, part[0], part[1] as number);
    return [lng, lat];
  };
  return {
    type: "FeatureCollection",
    features: features.features.map((feature) => ({
      ...feature,
      geometry: "coordinates" in feature.geometry
        ? ({ ...feature.geometry, coordinates: moved(feature.geometry.coordinates) } as GeoJSON.Geometry)
        : feature.geometry,
    })),
  };
}

/** The edges of the world, half of it on either side of the map. */
function worldAround({ place: [, , right] }: MapData): GeoJSON.Position[] {
  const middle = right > 1 ? 180 : 0;
  const [west, east] = [middle - 180, middle + 180];
  return [[west, -85.05], [east, -85.05], [east, 85.05], [west, 85.05], [west, -85.05]];
}

function polygons(shapes: GeoJSON.Position[][][]): GeoJSON.FeatureCollection {
  return {
    type: "FeatureCollection",
    features: shapes.map((coordinates) => ({ type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates } })),
  };
}
