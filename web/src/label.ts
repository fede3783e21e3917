/** The badge that says how strongly people are protected, and the promise in plain words. */
import type { MapData } from "./data";
import { button, el, svg } from "./dom";

let labels = 0;

function badge(data: MapData, show: () => void): HTMLButtonElement {
  const shield = svg("svg", { viewBox: "0 0 13 14", width: "13", height: "14", "aria-hidden": "true" });
  shield.append(
    svg("path", { d: SHIELD, fill: "none", stroke: "currentColor", "stroke-width": "1.3" }),
    svg("path", { d: TICK, fill: "none", stroke: "currentColor", "stroke-width": "1.4" }),
  );
  const made = button("", show, { class: "badge", "aria-haspopup": "dialog" });
  made.append(shield, data.badge);
  return made;
}

export const SHIELD = "M6.5.7 12 2.6v4.1c0 3.2-2.3 5.4-5.5 6.6C3.3 12.1 1 9.9 1 6.7V2.6Z";
export const TICK = "m4 6.8 1.9 1.9 3.2-3.6";

export function privacyLabel(data: MapData): { badge: HTMLButtonElement; open: HTMLButtonElement; dialog: HTMLDialogElement } {
  const id = `dpheatmap-label-${++labels}`; // a page may show several maps
  const heading = el("h2", { id, tabindex: "-1" }, "What this map promises");
  const close = button("Close", () => dialog.close(), { class: "button" });
  const dialog = el(
    "dialog",
    { class: "label", "aria-labelledby": id },
    el(
      "div",
      { class: "label-text" },
      heading,
      ...data.label.flatMap(({ heading, text }) => [el("h3", {}, heading), el("p", {}, text)]),
      close,
    ),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  const show = () => {
    dialog.showModal();
    heading.focus(); // reading starts here, and not at the button below
    dialog.scrollTop = 0;
  };
  const open = button("What this promises", show, { class: "link", "aria-haspopup": "dialog" });
  return { badge: badge(data, show), open, dialog };
}
