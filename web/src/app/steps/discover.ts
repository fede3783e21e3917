/** A place that is discovered from the data, privately, for a price. */
import { button, el } from "../../dom";
import { api, type Place, Refusal } from "../api";
import { change, draft, wanted } from "../draft";
import { follow } from "../follow";
import { input, labelled, type Problem } from "../parts";
import { fill, moment, t } from "../texts";
import { BudgetPart } from "./budget";

/** The panel; `discovered` is told the place, and what is claimed of it. What is returned ends the panel. */
export function discoverPanel(root: HTMLElement, problem: Problem, discovered: (place: Place, words: string) => void): () => void {
  let over = false;
  const price = input({ type: "text", inputmode: "decimal", autocomplete: "off", value: "0.1" }, () => {
    budget.show();
    begin.textContent = words();
  }, "input");
  const words = (): string => fill(t.place.discover_start, { epsilon: price.value.trim() });
  const budget = new BudgetPart(() => price.value.trim());
  const status = el("div", { class: "following" });
  const start = async (): Promise<void> => {
    problem.clear();
    begin.disabled = true;
    try {
      const asked = wanted(await budget.ready(budget.asked()), { kind: "unit" });
      if (!asked) throw new Refusal(t.release.incomplete);
      const begun = await api.discover({ ...asked, epsilon: price.value.trim() });
      const ended = await follow(status, begun, () => over);
      if (over) return;
      if (ended.state !== "done" || !ended.result.place) throw new Refusal(ended.message);
      const before = begun.repeated ? ` ${fill(t.place.discovered_before, { made: moment(begun.made) })}` : "";
      return discovered(ended.result.place, `${ended.result.words ?? ""}${before}`);
    } catch (error) {
      problem.show(error);
    }
    begin.disabled = false;
    budget.load().catch(() => undefined);
  };
  const begin = button(words(), () => void start(), { class: "primary" });
  root.append(el("p", { class: "note" }, t.place.discover_note), labelled(t.place.price, price, t.place.price_note), budget.element, begin, status);
  if (draft.place) change({ place: null, picture: null });
  budget.load().catch((error: unknown) => problem.show(error));
  return () => void (over = true);
}
