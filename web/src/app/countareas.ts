/** Below a map: how many people are in areas of a file, as a table, as a layer of the map, and as files. */
import { areasTable } from "../areas";
import type { AreaData } from "../data";
import { el } from "../dom";
import { api, type CountedAreas, upload } from "./api";
import { labelled, Problem } from "./parts";
import { t } from "./texts";

const SUFFIXES = [".csv", ".png", ".html", ".geojson", ".gpkg", ".parquet", ".svg", ".pdf"];
const ACCEPTED = ".geojson,.json,.gpkg,.parquet,.png";

/** `show` puts the areas on the map, and `go` moves it to one. */
export function countAreas(id: string, show: (found: CountedAreas) => Promise<unknown>, go: (area: AreaData) => void): HTMLElement {
  const problem = new Problem();
  const status = el("p", { role: "status" });
  const found = el("div", { class: "counted-areas" });
  const field = el("input", { type: "file", accept: ACCEPTED });
  let turn = 0;
  const count = async (file: File): Promise<void> => {
    const own = ++turn;
    problem.clear();
    found.replaceChildren();
    status.textContent = t.areas.counting;
    const sent = await upload(file, () => undefined);
    const counted = await api.areas(id, sent.upload);
    if (own !== turn) return;
    await show(counted);
    status.textContent = counted.takeaway;
    const links = SUFFIXES.map((suffix) => el("li", {}, el("a", { href: api.fileOfAreas(id, sent.upload, suffix), download: "" }, suffix)));
    found.replaceChildren(areasTable(counted.layer, go), el("h3", {}, t.areas.files), el("ul", { class: "files inline" }, ...links), el("p", { class: "note" }, t.areas.note));
  };
  field.addEventListener("change", () => {
    const [file] = field.files ?? [];
    if (file) count(file).catch((error: unknown) => ((status.textContent = ""), problem.show(error)));
  });
  return el("section", { class: "areas-section" }, el("h2", {}, t.areas.heading), labelled(t.areas.choose, field, t.areas.lead), problem.element, status, found);
}
