/** The snippet that puts the map into another page. */
import { button, el } from "./dom";

const [WIDTH, HEIGHT] = [600, 400]; // pixels

/** `address` is that of the page; a page on a disk has none that others could use, so its name stands for it. */
export function snippet(title: string, address: string, hash: string): string {
  const source = /^https?:/.test(address) ? address : decodeURIComponent(address.split("/").pop() || "map.html");
  return `<iframe src="${escaped(source + hash)}" title="${escaped(title)}" width="${WIDTH}" height="${HEIGHT}" loading="lazy" style="border: 0; max-width: 100%"></iframe>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}

/** A text to copy; `text` is asked for when it is needed, as what is seen changes. */
export function snippetField(text: () => string): HTMLElement {
  const area = el("textarea", { readonly: "", rows: "5", spellcheck: "false", "aria-label": "Snippet to embed this map" });
  const told = el("span", { role: "status" });
  const copy = button("Copy", () => {
    area.value = text();
    area.select();
    const done = () => (told.textContent = "Copied");
    const failed = () => (told.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl + C");
    if (navigator.clipboard) navigator.clipboard.writeText(area.value).then(done, failed);
    else failed();
  }, { class: "button", "aria-label": "Copy the snippet" });
  area.addEventListener("focus", () => {
    area.value = text();
    area.select();
  });
  const note = el("p", { class: "note" }, "To embed this map, put its file on your site and paste this into a page. src is where the file lies.");
  area.value = text();
  return el("div", { class: "snippet" }, note, area, el("div", { class: "buttons" }, copy, told));
}
