/** Loads the heavy part of the app. */
type View = typeof import("./view");

let loading: Promise<View> | null = null;

export function maps(): Promise<View> {
  loading ??= (async () => {
    const address = "/static/view.js";
    const sheet = document.createElement("link");
    sheet.rel = "stylesheet";
    sheet.href = "/static/view.css";
    const styled = new Promise<void>((resolve) => {
      sheet.addEventListener("load", () => resolve());
      sheet.addEventListener("error", () => resolve());
    });
    document.head.prepend(sheet);
    const [view] = await Promise.all([import(address) as Promise<View>, styled]);
    return view;
  })();
  return loading;
}
