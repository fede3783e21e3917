/**
 * In a notebook: one output carries the program, every other finds it on the page. Each map is a page of its own in a
 * frame, so that neither the notebook's styles nor its scripts touch it.
 */
interface Shared {
  /** The page around the data: what comes before and after it. */
  page?: [string, string];
}

const name = "__dpheatmap__";
const shared: Shared = ((window as unknown as Record<string, Shared>)[name] ??= {});
const carried = document.querySelector<HTMLScriptElement>("script.dpheatmap-page");
if (carried?.textContent) shared.page ??= JSON.parse(carried.textContent) as [string, string];

for (const output of document.querySelectorAll<HTMLElement>("div.dpheatmap-output:not([data-seen])")) {
  const data = output.querySelector("script.dpheatmap-map")?.textContent;
  if (!data || !shared.page) continue;
  output.setAttribute("data-seen", "true");
  const still = [...output.children];
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = output.dataset.title ?? "Map";
  frame.style.cssText = "position: absolute; inset: 0; width: 100%; height: 100%; border: 0;";
  output.style.cssText = "position: relative; height: 520px; overflow: hidden;";
  // The still picture shows through until the map is there, and stays if it never comes.
  window.addEventListener("message", (event) => {
    if (event.source === frame.contentWindow && event.data === "dpheatmap:ready") still.forEach((part) => part.remove());
  });
  frame.srcdoc = shared.page.join(data);
  output.append(frame);
}
export {};
