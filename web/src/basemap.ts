/** What lies under and over the heat: land, coast, borders and names, drawn from what the page carries. */
import type { LayerSpecification, SourceSpecification, StyleSpecification, SymbolLayerSpecification } from "maplibre-gl";
import { type Basemap, type MapData, pointsOf } from "./data";
import { corners, type LngLat, pixelAt } from "./place";

interface Inks {
  sea: string;
  land: string;
  coast: string;
  border: string;
  name: string;
  halo: string;
}

const LIGHT: Inks = {
  sea: "#d5dfe8",
  land: "#f6f4ef",
  coast: "#7b8fa2",
  border: "#9a8ca1",
  name: "#1d2230",
  halo: "#ffffffd0",
};
const DARK: Inks = {
  sea: "#10161d",
  land: "#262b33",
  coast: "#8ca0b3",
  border: "#a294a8",
  name: "#f2f4f8",
  halo: "#0b0e13d8",
};

/** Layers above the heat, and what they are called in the style. */
const PAINTS: [layer: string, property: string, ink: keyof Inks][] = [
  ["sea", "background-color", "sea"],
  ["land", "fill-color", "land"],
  ["coast", "line-color", "coast"],
  ["borders", "line-color", "border"],
  ["names", "text-color", "name"],
  ["names", "text-halo-color", "halo"],
  ["edge", "line-color", "name"],
];

/** White with a dark rim can be read on every colour that heat may have; on changes, most of them pale, the reverse. */
const ON_DARK = { "text-color": "#ffffff", "text-halo-color": "#14161de0" };
const ON_PALE = { "text-color": LIGHT.name, "text-halo-color": "#ffffffe0" };

/** The colours of a theme, as paint properties of the layers that are there. */
export function inks(dark: boolean): [layer: string, property: string, colour: string][] {
  const chosen = dark ? DARK : LIGHT;
  return PAINTS.map(([layer, property, ink]) => [layer, property, chosen[ink]]);
}

export function styleOf(
  data: MapData,
  basemap: Basemap | null,
  heat: HTMLCanvasElement,
  background: HTMLCanvasElement | null,
): StyleSpecification {
  const place = corners(data);
  const sources: Record<string, SourceSpecification> = {
    heat: { type: "canvas", canvas: heat, animate: false, coordinates: place } as unknown as SourceSpecification,
    edge: { type: "geojson", data: line([...place, place[0]]) },
  };
  const below: LayerSpecification[] = [{ id: "sea", type: "background" }];
  const above: LayerSpecification[] = [];
  if (basemap) {
    const onHeat = (at: LngLat) => pixelAt(data, at) !== null;
    addBasemap(basemap, onHeat, data.signed ? ON_PALE : ON_DARK, data.tiles !== null, sources, below, above);
  }
  if (data.tiles) {
    sources.tiles = { type: "raster", tiles: [data.tiles.url], tileSize: 256, maxzoom: 19 };
    below.push({ id: "tiles", type: "raster", source: "tiles" });
  }
  if (background) {
    const spec = { type: "canvas", canvas: background, animate: false, coordinates: place };
    sources.background = spec as unknown as SourceSpecification;
    below.push({ id: "background", type: "raster", source: "background", paint: { "raster-fade-duration": 0 } });
  }
  const resampling = data.smooth ? "linear" : "nearest";
  const layers: LayerSpecification[] = [
    ...below,
    {
      id: "heat",
      type: "raster",
      source: "heat",
      paint: { "raster-fade-duration": 0, "raster-resampling": resampling },
    },
    { id: "edge", type: "line", source: "edge", paint: { "line-width": 1, "line-opacity": 0.5 } },
    ...above,
  ];
  return { version: 8, transition: { duration: 0, delay: 0 }, sources, layers };
}

/** The world alone. */
export function worldStyle(basemap: Basemap): StyleSpecification {
  const sources: Record<string, SourceSpecification> = {};
  const below: LayerSpecification[] = [{ id: "sea", type: "background" }];
  const above: LayerSpecification[] = [];
  addBasemap(basemap, () => false, ON_DARK, false, sources, below, above);
  return { version: 8, transition: { duration: 0, delay: 0 }, sources, layers: [...below, ...above] };
}

/** What the sources of the world hold, for more detail later. */
export function worldData(basemap: Basemap): Record<string, GeoJSON.FeatureCollection> {
  return {
    land: landOf(basemap),
    coast: linesOf(basemap.land.flat()),
    borders: linesOf(basemap.borders),
    cities: citiesOf(basemap, () => false),
  };
}

function addBasemap(
  basemap: Basemap,
  onHeat: (at: LngLat) => boolean,
  inkOnHeat: SymbolLayerSpecification["paint"],
  tiles: boolean,
  sources: Record<string, SourceSpecification>,
  below: LayerSpecification[],
  above: LayerSpecification[],
): void {
  sources.land = { type: "geojson", data: landOf(basemap), tolerance: 0.1 };
  below.push({ id: "land", type: "fill", source: "land", paint: { "fill-antialias": false } });
  if (tiles) return;
  sources.coast = { type: "geojson", data: linesOf(basemap.land.flat()), tolerance: 0.1 };
  sources.borders = { type: "geojson", data: linesOf(basemap.borders), tolerance: 0.1 };
  sources.cities = { type: "geojson", data: citiesOf(basemap, onHeat) };
  above.push(
    { id: "coast", type: "line", source: "coast", paint: { "line-width": 1.1 } },
    { id: "borders", type: "line", source: "borders", paint: { "line-width": 1.1, "line-dasharray": [4, 2] } },
    names("names", false, {}),
    names("names-on-heat", true, inkOnHeat),
  );
}

function names(id: string, onHeat: boolean, paint: SymbolLayerSpecification["paint"]): LayerSpecification {
  return {
    id,
    type: "symbol",
    source: "cities",
    filter: ["==", ["get", "onHeat"], onHeat],
    layout: {
      "text-field": ["get", "name"],
      "text-font": ["system-ui", "Helvetica Neue", "Arial", "sans-serif"],
      "text-size": ["interpolate", ["linear"], ["get", "rank"], 8.5, 11, 16, 15],
      "text-padding": 6,
      "symbol-sort-key": ["-", ["get", "rank"]],
    },
    paint: { "text-halo-width": 1.4, ...paint },
  };
}

type Line = GeoJSON.Feature<GeoJSON.LineString>;

function line(points: [number, number][]): Line {
  return { type: "Feature", properties: {}, geometry: { type: "LineString", coordinates: points } };
}

function linesOf(lines: number[][]): GeoJSON.FeatureCollection {
  return { type: "FeatureCollection", features: lines.map((steps) => line(pointsOf(steps))) };
}

function landOf(basemap: Basemap): GeoJSON.FeatureCollection {
  return {
    type: "FeatureCollection",
    features: basemap.land.map((shores) => ({
      type: "Feature",
      properties: {},
      geometry: { type: "Polygon", coordinates: shores.map(pointsOf) },
    })),
  };
}

function citiesOf(basemap: Basemap, onHeat: (at: LngLat) => boolean): GeoJSON.FeatureCollection {
  return {
    type: "FeatureCollection",
    features: basemap.cities.map(([name, lon, lat, population]) => ({
      type: "Feature",
      properties: { name, rank: Math.log(population), onHeat: onHeat({ lng: lon, lat }) },
      geometry: { type: "Point", coordinates: [lon, lat] },
    })),
  };
}
