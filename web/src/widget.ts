/** The map as a widget of a notebook: a page of its own in a frame, which tells what the reader selects. */
import type { Chosen } from "./selection";

interface Model {
  get(name: "page" | "answer" | "height"): string;
  get(name: "title"): string;
  set(name: "asked", value: object): void;
  save_changes(): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = model.get("title");
  frame.style.cssText = `display: block; width: 100%; height: ${model.get("height")}; border: 0;`;
  const answer = document.createElement("p");
  answer.setAttribute("role", "status");
  answer.className = "dpheatmap-answer";
  answer.style.cssText = "min-height: 1.5em; margin: 6px 2px; font: 13px/1.5 system-ui, sans-serif; color: var(--jp-ui-font-color1, inherit);";
  const show = () => (answer.textContent = model.get("answer"));
  const listen = (event: MessageEvent) => {
    if (event.source !== frame.contentWindow) return;
    if (event.data === "dpheatmap:ready") frame.contentWindow?.postMessage("dpheatmap:select", "*");
    const told = event.data as { dpheatmap?: Chosen } | null;
    if (told === null || typeof told !== "object" || told.dpheatmap === undefined) return;
    model.set("asked", told.dpheatmap ?? {});
    model.save_changes();
  };
  window.addEventListener("message", listen);
  model.on("change:answer", show);
  show();
  frame.srcdoc = model.get("page");
  el.append(frame, answer);
  return () => {
    window.removeEventListener("message", listen);
    model.off("change:answer", show);
  };
}

export default { render };
