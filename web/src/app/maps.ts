/** Loads the heavy part of the app. */
type View = typeof import("./view");

let loading: Promise<View> | null = null;

export function maps(): Promise<View> {
  loading ??= (async () => {
    const address = "/static/view.js";
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/map.css" });
    const library = Object.assign(document.createElement("script"), { src: "/static/maplibre.js" });
    document.head.prepend(sheet, library);
    await Promise.all([sheet, library].map(loaded));
    return (await import(address)) as View;
  })();
  return loading;
}

/** Waits until an element has loaded, or can't be. */
function loaded(element: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    element.addEventListener("load", () => resolve());
    element.addEventListener("error", () => resolve());
  });
}
