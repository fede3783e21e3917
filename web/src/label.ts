/** The privacy label: a button that says how strongly people are protected, and opens the promise in plain words. */
import { button, el } from "./dom";
import type { MapData } from "./data";

export function privacyLabel(data: MapData): { open: HTMLButtonElement; dialog: HTMLDialogElement } {
  const close = button("Close", () => dialog.close(), { class: "close" });
  const dialog = el(
    "dialog",
    { class: "label", "aria-labelledby": "dpheatmap-label" },
    // The heading takes the focus, so that reading starts there and not at the button below.
    el("h2", { id: "dpheatmap-label", tabindex: "-1", autofocus: "" }, "What this map promises"),
    ...data.label.flatMap(({ heading, text }) => [el("h3", {}, heading), el("p", {}, text)]),
    close,
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  const open = button("Privacy label", () => dialog.showModal(), { class: "privacy", "aria-haspopup": "dialog" });
  return { open, dialog };
}
