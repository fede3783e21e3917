/** The fourth step: epsilon, with a plan and a preview on generated people beside it. */
import { el } from "../../dom";
import { api, type Plan, type Preview } from "../api";
import { change, draft, slicesOf } from "../draft";
import { goIfPlanned, input, instead, labelled, Problem, soon, steps } from "../parts";
import { value } from "../numbers";
import { fill, percent, t } from "../texts";

const COMMON = ["0.1", "0.2", "0.5", "1", "2", "5", "10"];

export function strengthStep(root: HTMLElement): () => void {
  const place = draft.place;
  if (!place) {
    instead("place");
    return () => undefined;
  }
  const slices = slicesOf(draft);
  const problem = new Problem();
  const words = el("div", { class: "plan" });
  const pictures = el("div", { class: "previews", "aria-live": "polite" });
  let now = new AbortController(); // of what was asked for last: each ends the one before, and leaving ends all

  const refresh = async (): Promise<void> => {
    now.abort();
    now = new AbortController();
    const { signal } = now;
    problem.clear();
    pictures.setAttribute("aria-busy", "true");
    if (!pictures.childElementCount) pictures.append(el("p", { class: "status" }, t.strength.drawing));
    try {
      const { epsilon, users } = draft;
      const plan = await api.plan(place, epsilon, users, slices);
      if (signal.aborted) return;
      words.replaceChildren(...planned(plan, null));
      const [stronger, chosen, weaker] = plan.beside;
      const drawn = new Map<string, Preview>();
      for (const each of [chosen, stronger, weaker]) {
        drawn.set(each, await api.preview(place, each, users, slices, signal));
        if (each === chosen) words.replaceChildren(...planned(plan, drawn.get(chosen) ?? null));
        pictures.replaceChildren(...sideBySide(plan.beside, drawn));
      }
      pictures.removeAttribute("aria-busy");
      pictures.setAttribute("data-ready", epsilon);
    } catch (error) {
      if (signal.aborted) return;
      problem.show(error);
      words.replaceChildren();
      pictures.replaceChildren();
      pictures.removeAttribute("aria-busy");
    }
  };
  const later = soon(() => void refresh());

  const exact = input({ type: "text", inputmode: "decimal", autocomplete: "off", value: draft.epsilon }, () => set(exact.value.trim()), "input");
  const slide = input({ type: "range", min: "0", max: String(COMMON.length - 1), step: "1", "aria-label": `${t.strength.epsilon}: ${t.strength.strong} – ${t.strength.weak}` }, () => set(COMMON[Number(slide.value)]), "input");
  const set = (epsilon: string): void => {
    change({ epsilon });
    if (exact.value.trim() !== epsilon) exact.value = epsilon;
    slide.value = String(nearest(value(epsilon)));
    slide.setAttribute("aria-valuetext", epsilon);
    later();
  };
  const users = input({ type: "number", min: "1", step: "1", inputmode: "numeric", value: String(draft.users) }, (text) => {
    if (!/^0*[1-9]\d*$/.test(text.trim())) return problem.show(t.strength.bad_users);
    change({ users: Number(text) });
    later();
  }, "input");
  set(draft.epsilon);

  root.append(
    el("h1", { tabindex: "-1" }, t.strength.heading),
    el("p", { class: "lead" }, t.strength.lead),
    problem.element,
    el(
      "div",
      { class: "beside" },
      el(
        "div",
        {},
        labelled(t.strength.epsilon, exact, t.strength.epsilon_note),
        el("div", { class: "slide" }, el("span", { "aria-hidden": "true" }, t.strength.strong), slide, el("span", { "aria-hidden": "true" }, t.strength.weak)),
        labelled(slices?.groups ? t.strength.users_of_group : t.strength.users, users, t.strength.users_note),
      ),
      words,
    ),
    el("section", {}, el("h2", {}, t.strength.preview), el("p", { class: "note" }, t.strength.preview_note), pictures),
    steps("place", { text: t.shell.next, action: () => goIfPlanned("release", place, draft.epsilon, problem) }),
  );
  return () => now.abort();
}

/** Which of the common ones is nearest, as a ratio. */
function nearest(epsilon: number): number {
  const far = COMMON.map((common) => Math.abs(Math.log(value(common) / epsilon)));
  return Math.max(far.indexOf(Math.min(...far)), 0);
}

function planned(plan: Plan, preview: Preview | null): HTMLElement[] {
  const lines = [plan.advice, fill(t.strength.error, { error: plan.error })];
  if (preview) lines.push(preview.sure === null ? t.strength.unsure : fill(t.strength.sure, { sure: `${Number((100 * preview.sure).toPrecision(2))}\u00a0%` }));
  return [
    el("h2", {}, t.strength.meaning),
    el("p", {}, fill(t.strength.odds, { odds: plan.odds, chance: percent(plan.chance) })),
    ...(plan.caution ? [el("p", { class: "caution" }, plan.caution)] : []),
    el("h2", {}, t.strength.expect),
    el("ul", {}, ...lines.map((line) => el("li", {}, line))),
    ...(plan.slices.length ? [el("h2", {}, t.strength.slices), ...plan.slices.map((words) => el("p", {}, words))] : []),
  ];
}

/** Generated people as they are, and as maps at three epsilons show them. */
function sideBySide(epsilons: Plan["beside"], drawn: Map<string, Preview>): HTMLElement[] {
  const first = [...drawn.values()][0];
  const maps = epsilons.flatMap((epsilon, i) => {
    const preview = drawn.get(epsilon);
    return preview ? [figure(preview.shown, fill([t.strength.stronger, t.strength.chosen, t.strength.weaker][i], { epsilon }))] : [];
  });
  return [figure(first.truth, t.strength.truth), ...maps];
}

function figure(source: string, words: string): HTMLElement {
  return el("figure", {}, el("img", { src: source, alt: words }), el("figcaption", {}, words));
}
