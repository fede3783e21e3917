/** Small views that the steps are made of. */
import { button, el } from "../dom";
import { api, type Place } from "./api";
import { draft, slicesOf } from "./draft";
import { t } from "./texts";

let ids = 0;
export const newId = (): string => `part-${++ids}`;

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** An input with its name above and a note below, which screen readers read with it. */
export function labelled(name: string, input: Input, note = ""): HTMLElement {
  input.id ||= newId();
  const parts: HTMLElement[] = [el("label", { for: input.id }, name), input];
  if (note) {
    const id = newId();
    input.setAttribute("aria-describedby", id);
    parts.push(el("p", { class: "note", id }, note));
  }
  return el("div", { class: "labelled" }, ...parts);
}

export function select(options: [value: string, text: string][], chosen: string, change: (value: string) => void): HTMLSelectElement {
  const made = el("select", {}, ...options.map(([value, text]) => el("option", { value }, text)));
  made.value = chosen;
  made.addEventListener("change", () => change(made.value));
  return made;
}

export function input(attributes: Record<string, string>, change: (value: string) => void, on = "change"): HTMLInputElement {
  const made = el("input", attributes);
  made.addEventListener(on, () => change(made.value));
  return made;
}

/** A choice of one; `change` is told the value. */
export function radios(name: string, options: [value: string, text: string][], chosen: string, change: (value: string) => void): HTMLFieldSetElement {
  const group = newId();
  const made = options.map(([value, text]) => {
    const radio = el("input", { type: "radio", name: group, value });
    radio.checked = value === chosen;
    radio.addEventListener("change", () => change(value));
    return el("label", { class: "radio" }, radio, el("span", {}, text));
  });
  return el("fieldset", { class: "radios" }, el("legend", {}, name), ...made);
}

/** Where a step tells what went wrong; screen readers are told at once. */
export class Problem {
  readonly element = el("div", { class: "problem", role: "alert", hidden: "" });

  show(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.element.replaceChildren(el("strong", {}, t.shell.problem), " ", text);
    this.element.hidden = false;
    this.element.scrollIntoView({ block: "nearest" });
  }

  clear(): void {
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}

/** Back and forth at the end of a step. */
export function steps(back: string | null, next: { text: string; action: () => void } | null): HTMLElement {
  const row = el("div", { class: "steps-row" });
  if (back) row.append(el("a", { class: "button", href: `#${back}` }, t.shell.back));
  if (next) row.append(button(next.text, next.action, { class: "primary" }));
  return row;
}

export function go(hash: string): void {
  location.hash = hash;
}

/** Go elsewhere from an address that can't be shown, which is forgotten: the browser's way back must not end here. */
export function instead(hash: string): void {
  location.replace(`#${hash}`);
}

/** Go on if the server can plan for a place, the chosen slices and an epsilon; else tell why not, here and now. */
export function goIfPlanned(hash: string, place: Place, epsilon: string, problem: Problem): void {
  api.plan(place, epsilon, draft.users, slicesOf(draft)).then(() => go(hash), (error: unknown) => problem.show(error));
}

/** Call later, and only once however often it is asked for in between. */
export function soon(action: () => unknown, milliseconds = 350): () => void {
  let waiting = 0;
  return () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(action, milliseconds);
  };
}
