/** The reading under the pointer, or under the cross when the keyboard or a search moves the map. */
import { el } from "./dom";
import type { Reading } from "./reading";

export class Readout {
  readonly tip = el("div", { class: "tip", "aria-hidden": "true", hidden: "" });
  readonly cross = el("div", { class: "cross", "aria-hidden": "true", hidden: "" });
  readonly spoken = el("p", { class: "spoken", role: "status", "aria-live": "polite" });

  hide(): void {
    this.tip.hidden = true;
  }

  hideCross(): void {
    this.cross.hidden = true;
  }

  /** At a point of an area of the map that is so wide and high. */
  show(reading: Reading, x: number, y: number, width: number, height: number): void {
    const lines = [el("strong", {}, reading.words)];
    if (reading.sure) lines.push(el("span", {}, reading.sure));
    lines.push(el("span", {}, reading.place));
    this.tip.replaceChildren(...lines);
    this.tip.hidden = false;
    const room = this.tip.getBoundingClientRect();
    const beside = x + 16 + room.width > width ? x - 14 - room.width : x + 16;
    const below = y + 16 + room.height > height ? y - 14 - room.height : y + 16;
    this.tip.style.left = `${Math.min(Math.max(4, beside), Math.max(4, width - room.width - 4))}px`;
    this.tip.style.top = `${Math.max(4, below)}px`;
  }

  mark(x: number, y: number): void {
    this.cross.hidden = false;
    this.cross.style.left = `${x}px`;
    this.cross.style.top = `${y}px`;
  }

  speak(reading: Reading): void {
    this.spoken.textContent = [reading.words, reading.place].join(", ");
  }
}
