/** The heavy part of the app, loaded when a map is first needed. */
import "maplibre-gl/dist/maplibre-gl.css";
import "../style.css";

export { HeatmapView } from "../component";
export { BoxMap } from "./boxmap";
