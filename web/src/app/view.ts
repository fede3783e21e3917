/** The heavy part of the app, loaded after MapLibre when a map is first needed. */
export { HeatmapView } from "../component";
export { BoxMap } from "./boxmap";
