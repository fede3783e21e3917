/** A page of its own: reads what it carries and shows it; `window.dpheatmap` is the view, for scripts. */
import "maplibre-gl/dist/maplibre-gl.css";
import "./style.css";
import { HeatmapView } from "./component";
import type { MapData } from "./data";

const root = document.getElementById("dpheatmap");
const text = document.getElementById("dpheatmap-data")?.textContent;
if (root && text) {
  const mounted = HeatmapView.mount(root, JSON.parse(text) as MapData, { page: true });
  mounted.then(
    (view) => {
      Object.assign(window, { dpheatmap: view });
      root.setAttribute("data-ready", "true");
      if (parent === window) return;
      window.addEventListener("message", ({ source, data }) => {
        if (source === parent && data === "dpheatmap:select") view.select((chosen) => parent.postMessage({ dpheatmap: chosen }, "*"));
      });
      parent.postMessage("dpheatmap:ready", "*");
    },
    () => root.replaceChildren("This map could not be read: the file is damaged or the browser too old."),
  );
}
