/** The privacy label: a button that says how strongly people are protected, and opens the promise in plain words. */
import { button, el } from "./dom";
import type { MapData } from "./data";

let labels = 0;

export function privacyLabel(data: MapData): { open: HTMLButtonElement; dialog: HTMLDialogElement } {
  const id = `dpheatmap-label-${++labels}`; // a page may show several maps
  const heading = el("h2", { id, tabindex: "-1" }, "What this map promises");
  const close = button("Close", () => dialog.close(), { class: "close" });
  const dialog = el(
    "dialog",
    { class: "label", "aria-labelledby": id },
    heading,
    ...data.label.flatMap(({ heading, text }) => [el("h3", {}, heading), el("p", {}, text)]),
    close,
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  const show = () => {
    dialog.showModal();
    heading.focus(); // reading starts here, and not at the button below
    dialog.scrollTop = 0;
  };
  const open = button("Privacy label", show, { class: "privacy", "aria-haspopup": "dialog" });
  return { open, dialog };
}
