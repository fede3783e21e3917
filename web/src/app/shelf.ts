/** Earlier releases: open, compare two, delete with an undo. */
import { button, el } from "../dom";
import { api, type Release } from "./api";
import { isUnderWay } from "./follow";
import { go, Problem } from "./parts";
import { placeInWords } from "./placewords";
import { fill, moment, t } from "./texts";

export function shelf(root: HTMLElement): void {
  const problem = new Problem();
  const list = el("ul", { class: "cards" });
  const undo = el("div", { class: "undo", role: "status" });
  const chosen = new Set<string>();
  const compare = button(t.shelf.compare, () => go(`compare/${[...chosen].join("/")}`), { disabled: "" });

  const load = async (): Promise<void> => {
    const found = await api.releases();
    list.replaceChildren(...found.map((release) => card(release, chosen, () => (compare.disabled = chosen.size !== 2), (gone) => void remove(gone))));
    if (!found.length) list.replaceChildren(el("li", { class: "empty" }, t.shelf.empty));
    list.setAttribute("data-ready", String(found.length));
  };
  const remove = async (release: Release): Promise<void> => {
    try {
      await api.remove(release.id);
      chosen.delete(release.id);
      const back = button(t.shelf.undo, () => {
        undo.replaceChildren();
        api.restore(release.id).then(load, (error: unknown) => problem.show(error));
      });
      undo.replaceChildren(fill(t.shelf.deleted, { name: release.title || release.file }), " ", back);
      await load();
      back.focus();
    } catch (error) {
      problem.show(error);
    }
  };
  root.append(
    el("h1", { tabindex: "-1" }, t.shelf.heading),
    el("p", { class: "lead" }, t.shelf.lead),
    problem.element,
    el("div", { class: "buttons" }, compare, el("span", { class: "note" }, t.shelf.compare_note)),
    undo,
    list,
  );
  load().catch((error: unknown) => problem.show(error));
}

function card(release: Release, chosen: Set<string>, changed: () => void, remove: (release: Release) => void): HTMLElement {
  const { id, file, made, wanted, state, message } = release;
  const name = release.title || file;
  const done = state === "done";
  const parts: HTMLElement[] = [];
  if (done) parts.push(el("img", { src: api.thumbnail(id), alt: fill(t.shelf.thumbnail, { name }), loading: "lazy" }));
  parts.push(
    el("h2", {}, name),
    el("p", {}, `${release.title ? `${file}, ` : ""}${moment(made)}, ${t.shelf.states[state]}`),
    el("p", {}, fill(t.shelf.facts, { epsilon: wanted.epsilon, population: wanted.population })),
    el("p", { class: "note" }, `${release.town ? `${fill(t.shelf.near, { town: release.town })}, ` : ""}${placeInWords(wanted.place)}`),
  );
  if (release.slices) parts.push(el("p", { class: "note" }, release.slices));
  if (message) parts.push(el("p", { class: "note" }, message));
  const row = el("div", { class: "buttons" });
  if (done) {
    row.append(el("a", { class: "button", href: `#map/${id}` }, t.shelf.open));
  }
  if (done && !release.slices) {
    const tick = el("input", { type: "checkbox" });
    tick.checked = chosen.has(id);
    tick.addEventListener("change", () => {
      if (tick.checked) chosen.add(id);
      else chosen.delete(id);
      changed();
    });
    tick.setAttribute("aria-label", fill(t.shelf.choose, { name, made: moment(made) }));
    row.append(el("label", { class: "tick" }, tick, el("span", { "aria-hidden": "true" }, t.shelf.compare)));
  }
  if (isUnderWay(release)) row.append(el("a", { class: "button", href: `#map/${id}` }, t.shelf.watch));
  const gone = button(t.shelf.delete, () => remove(release));
  gone.setAttribute("aria-label", `${t.shelf.delete}: ${name}, ${moment(made)}`);
  if (!isUnderWay(release)) row.append(gone);
  return el("li", { class: "card" }, ...parts, row);
}
