/** The fifth step: what it costs, and the release itself. */
import { button, el } from "../../dom";
import { api, Refusal } from "../api";
import { change, draft, wanted } from "../draft";
import { go, input, instead, labelled, Problem } from "../parts";
import { ShownPlace } from "../shownplace";
import { fill, t } from "../texts";
import { BudgetPart } from "./budget";

export function releaseStep(root: HTMLElement): () => void {
  const { source, columns, place } = draft;
  if (!source || !columns || !place || !wanted("")) {
    instead("file");
    return () => undefined;
  }
  const problem = new Problem();
  const where = new ShownPlace(place, draft.picture, problem);
  const budget = new BudgetPart(() => draft.epsilon);
  budget.load().catch((error: unknown) => problem.show(error));

  const start = async (): Promise<void> => {
    problem.clear();
    begin.disabled = true;
    const paid = budget.asked();
    try {
      if (await where.isDoubtful()) throw new Refusal(t.release.place_doubtful);
      const asked = wanted(await budget.ready(paid));
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

  const title = input({ type: "text", dir: "auto", autocomplete: "off", maxlength: "120", value: draft.title, placeholder: t.map.untitled }, (words) => change({ title: words.trim() }), "input");
  const summary: [string, string][] = [
    [t.release.file, source.name],
    [t.release.columns, `${columns.user ?? t.release.none}, ${columns.x}, ${columns.y}${columns.weight ? `, ${columns.weight}` : ""}`],
    ...(wanted("")?.slices ? [[t.release.maps, draft.axis.words] as [string, string]] : []),
    [t.release.epsilon, draft.epsilon],
  ];
  root.append(
    el("h1", { tabindex: "-1" }, t.release.heading),
    el("p", { class: "lead" }, t.release.lead),
    problem.element,
    el(
      "div",
      { class: "beside" },
      el("div", {}, labelled(t.map.title, title, t.map.title_note), budget.element),
      el("section", {}, el("h2", {}, t.release.summary), el("dl", {}, ...summary.flatMap(([name, words]) => [el("dt", {}, name), el("dd", {}, words)])), where.element),
    ),
    el("div", { class: "steps-row" }, el("a", { class: "button", href: "#strength" }, t.shell.back), begin),
  );
  return () => where.end();
}
