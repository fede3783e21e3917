/** Below a map: how many people are in areas of a file, as a table, as a layer of the map, and as files. */
import { areasTable } from "../areas";
import type { AreaData } from "../data";
import { el } from "../dom";
import { api, type CountedAreas, Refusal, upload } from "./api";
import { labelled, Problem } from "./parts";
import { fill, t } from "./texts";

const TAKEN = [".geojson", ".json", ".gpkg", ".parquet", ".png"];

/** `show` puts the areas on the map, and `go` moves it to one. */
export function countAreas(id: string, show: (found: CountedAreas) => Promise<unknown>, go: (area: AreaData) => void): HTMLElement {
  const problem = new Problem();
  const status = el("p", { role: "status" });
  const found = el("div", { class: "counted-areas" });
  const field = el("input", { type: "file", accept: TAKEN.join(",") });
  let turn = 0;
  const count = async (file: File): Promise<void> => {
    const own = ++turn;
    problem.clear();
    found.replaceChildren();
    if (!TAKEN.some((ending) => file.name.toLowerCase().endsWith(ending))) throw new Refusal(fill(t.areas.ending, { name: file.name }));
    status.textContent = t.areas.counting;
    const sent = await upload(file, () => undefined);
    const counted = await api.areas(id, sent.upload);
    if (own !== turn) return;
    await show(counted);
    status.textContent = counted.takeaway;
    const links = Object.entries(t.areas.formats).map(([suffix, words]) => el("li", {}, el("a", { href: api.fileOfAreas(id, sent.upload, suffix), download: "" }, suffix), el("span", {}, words)));
    found.replaceChildren(areasTable(counted.layer, go), el("h3", {}, t.areas.files), el("ul", { class: "files" }, ...links), el("p", { class: "note" }, t.areas.note));
  };
  field.addEventListener("change", () => {
    const [file] = field.files ?? [];
    if (file) count(file).catch((error: unknown) => ((status.textContent = ""), problem.show(error)));
  });
  return el("section", { class: "areas-section" }, el("h2", {}, t.areas.heading), labelled(t.areas.choose, field, t.areas.lead), problem.element, status, found);
}
