/** The second step: which column is which, and what looks wrong. */
import { el } from "../../dom";
import type { Columns, Inspection } from "../api";
import { change, columnsComplete, draft } from "../draft";
import { go, instead, labelled, Problem, select, steps } from "../parts";
import { count, fill, short, t } from "../texts";

export function columnsStep(root: HTMLElement): void {
  const found = draft.inspection;
  if (!found || !draft.columns) return instead("file");
  const problem = new Problem();
  const table = el("div", {});
  const set = (part: Partial<Columns>): void => {
    change({ columns: { ...(draft.columns as Columns), ...part } });
    table.replaceChildren(columnTable(found, draft.columns as Columns));
  };
  set({});

  const names = Object.keys(found.columns);
  const choices = (none: string): [string, string][] => [["", none], ...names.map((name): [string, string] => [name, name])];
  const columns = draft.columns;
  const user = select(choices(t.columns.choose), columns.user ?? "", (value) => set({ user: value || null }));
  const alone = el("input", { type: "checkbox" });
  alone.checked = columns.each_row_is_a_person ?? false;
  user.disabled = alone.checked;
  alone.addEventListener("change", () => {
    user.disabled = alone.checked;
    set({ each_row_is_a_person: alone.checked, user: alone.checked ? null : user.value || null });
  });
  const next = (): void => {
    const unfit = found.unfit_for_ids.find((name) => name === draft.columns?.user);
    if (unfit !== undefined) return problem.show(fill(t.columns.unfit, { name: unfit }));
    if (columnsComplete(draft)) return go("place");
    const chosen = [draft.columns?.x, draft.columns?.y].every(Boolean) && (draft.columns?.user || alone.checked);
    problem.show(chosen ? t.columns.same : t.columns.incomplete);
  };

  root.append(
    el("h1", { tabindex: "-1" }, t.columns.heading),
    el("p", { class: "lead" }, t.columns.lead),
    problem.element,
    ...listed(t.columns.problems, found.problems, "warning-list"),
    el(
      "div",
      { class: "grid" },
      el("div", {}, labelled(t.columns.user, user, t.columns.user_note), el("label", { class: "tick" }, alone, el("span", {}, t.columns.alone))),
      labelled(t.columns.x, select(choices(t.columns.choose), columns.x, (x) => set({ x }))),
      labelled(t.columns.y, select(choices(t.columns.choose), columns.y, (y) => set({ y }))),
      labelled(t.columns.weight, select(choices(t.columns.none), columns.weight ?? "", (weight) => set({ weight: weight || null })), t.columns.weight_note),
    ),
    table,
    steps("file", { text: t.shell.next, action: next }),
  );
}

function listed(name: string, lines: string[], kind: string): HTMLElement[] {
  if (!lines.length) return [];
  return [el("section", { class: kind }, el("h2", {}, name), el("ul", {}, ...lines.map((line) => el("li", {}, line))))];
}

/** A database's name of a type, for people. */
function typeInWords(kind: string): string {
  const { text, whole, number, time } = t.columns.types;
  if (kind === "VARCHAR") return text;
  if (/INT/.test(kind)) return whole;
  if (/DOUBLE|FLOAT|DECIMAL|REAL/.test(kind)) return number;
  return /DATE|TIME/.test(kind) ? time : kind.toLowerCase();
}

/** Names and types, and exact numbers for the eyes of whoever holds the data. */
function columnTable(found: Inspection, columns: Columns): HTMLElement {
  const roles = new Map<string | null, string>([[columns.weight, t.columns.weight], [columns.user, t.columns.user], [columns.x, "x"], [columns.y, "y"]]);
  const typed = Object.values(found.columns).some((kind) => kind !== "VARCHAR"); // in a CSV file everything is text
  const rows = Object.entries(found.columns).map(([name, kind]) => {
    const numbers = found.private.columns[name] ?? {};
    const range = typeof numbers.lowest === "number" && typeof numbers.highest === "number" ? `${short(numbers.lowest)} … ${short(numbers.highest)}` : "";
    const cells = [...(typed ? [typeInWords(kind)] : []), roles.get(name) ?? "", count(numbers.nulls ?? 0), range];
    return el("tr", {}, el("th", { scope: "row", title: name }, el("span", { class: "clamped" }, name)), ...cells.map((cell) => el("td", {}, cell)));
  });
  const head = [t.columns.name, ...(typed ? [t.columns.type] : []), t.columns.role, t.columns.missing, t.columns.range];
  return el(
    "section",
    { class: "private" },
    el("h2", {}, t.columns.eyes),
    el("p", { class: "note" }, t.columns.eyes_note),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": fill(t.columns.table, { name: found.name }) },
      el(
        "table",
        {},
        el("caption", {}, `${fill(t.columns.table, { name: found.name })}, ${fill(t.columns.rows, { rows: count(found.private.rows) })}`),
        el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
        el("tbody", {}, ...rows),
      ),
    ),
    ...listed(t.columns.hints, [...(found.private.rows ? [] : [t.columns.no_rows]), ...found.private.hints], "hints"),
  );
}
