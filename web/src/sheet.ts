/** What has no room beside or under the map: a sheet that comes from below. */
import { button, el } from "./dom";

export class Sheet {
  readonly dialog: HTMLDialogElement;
  readonly open: HTMLButtonElement;
  private readonly body = el("div", { class: "sheet-body" });

  constructor() {
    const close = button("Close", () => this.close(), { class: "button" });
    const heading = el("div", { class: "sheet-head" }, el("h2", {}, "Settings"), close);
    this.dialog = el("dialog", { class: "sheet", "aria-label": "Settings" }, heading, this.body);
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.close();
    });
    this.open = button("Settings", () => this.dialog.showModal(), { class: "button settings", "aria-haspopup": "dialog" });
  }

  hold(content: HTMLElement): void {
    this.body.append(content);
  }

  close(): void {
    this.dialog.close();
  }
}
