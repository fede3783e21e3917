/** Elements made of text and attributes only: nothing that is given can become markup. */

type Child = Node | string;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function button(text: string, action: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", action);
  return element;
}

/** A name and what it names. */
export function field(name: string, input: HTMLElement): HTMLLabelElement {
  return el("label", { class: "field" }, el("span", {}, name), input);
}

/** What can be opened, by its name. */
export function part(name: string, ...content: HTMLElement[]): HTMLElement {
  return el("details", { class: `part-${name.split(" ")[0].toLowerCase()}` }, el("summary", {}, name), ...content);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string>): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
