/** MapLibre and the text of its worker. It is built once, as a script of its own, for the pages of maps and for the app. */
export { Map, NavigationControl, ScaleControl, setWorkerUrl } from "maplibre-gl";
export { default as workerSource } from "worker:maplibre";
