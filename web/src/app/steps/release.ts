/** The fifth step: what it costs, and the release itself. */
import { button, el } from "../../dom";
import { api, type Place, Refusal } from "../api";
import { draft, wanted } from "../draft";
import { go, instead, Problem } from "../parts";
import { fill, t } from "../texts";
import { BudgetPart } from "./budget";

export function releaseStep(root: HTMLElement): void {
  const { source, columns, place } = draft;
  if (!source || !columns || !place || !wanted("")) return instead("file");
  const problem = new Problem();
  const budget = new BudgetPart(() => draft.epsilon);
  budget.load().catch((error: unknown) => problem.show(error));

  const start = async (): Promise<void> => {
    problem.clear();
    begin.disabled = true;
    try {
      const asked = wanted(await budget.ready());
      if (!asked) throw new Refusal(t.release.incomplete);
      const begun = await api.release(asked);
      if (begin.isConnected) go(`map/${begun.id}${begun.repeated ? "/again" : ""}`); // where it is followed, also after a reload
    } catch (error) {
      problem.show(error);
      begin.disabled = false;
      budget.load().catch(() => undefined);
    }
  };
  const begin = button(fill(t.release.start, { epsilon: draft.epsilon }), () => void start(), { class: "primary" });

  const summary: [string, string][] = [
    [t.release.file, source.name],
    [t.release.columns, `${columns.user ?? t.release.none}, ${columns.x}, ${columns.y}${columns.weight ? `, ${columns.weight}` : ""}`],
    [t.release.place, placeInWords(place)],
    [t.release.epsilon, draft.epsilon],
  ];
  root.append(
    el("h1", { tabindex: "-1" }, t.release.heading),
    el("p", { class: "lead" }, t.release.lead),
    problem.element,
    el(
      "div",
      { class: "beside" },
      budget.element,
      el("section", {}, el("h2", {}, t.release.summary), el("dl", {}, ...summary.flatMap(([name, words]) => [el("dt", {}, name), el("dd", {}, words)]))),
    ),
    el("div", { class: "steps-row" }, el("a", { class: "button", href: "#strength" }, t.shell.back), begin),
  );
}

export function placeInWords(place: Place): string {
  if (place.kind === "unit") return t.place.unit;
  if (place.kind === "image") return fill(t.place.pixels, { width: place.size[0], height: place.size[1] });
  const [west, south, east, north] = place.bounds;
  return fill(t.place.box, { west: degrees(west, "EW"), east: degrees(east, "EW"), south: degrees(south, "NS"), north: degrees(north, "NS") });
}

/** To a metre or so. */
const degrees = (value: number, letters: string): string => `${Number(Math.abs(value).toFixed(5))}°\u00a0${letters[value < 0 ? 1 : 0]}`;
