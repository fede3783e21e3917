/** The value under the pointer, or under the cross in the middle when the keyboard moves the map. */
import { el } from "./dom";

export interface Reading {
  value: string;
  unit: string;
  note: string;
  place: string;
}

export class Readout {
  readonly tip = el("div", { class: "tip", "aria-hidden": "true", hidden: "" });
  readonly cross = el("div", { class: "cross", "aria-hidden": "true", hidden: "" });
  readonly spoken = el("p", { class: "spoken", role: "status", "aria-live": "polite" });

  hide(): void {
    this.tip.hidden = true;
  }

  show(reading: Reading, x: number, y: number, width: number, height: number): void {
    this.tip.replaceChildren(
      el("strong", {}, reading.value),
      el("span", {}, ` ${reading.unit}`),
      ...(reading.note ? [el("em", {}, reading.note)] : []),
      el("small", {}, reading.place),
    );
    this.tip.hidden = false;
    const room = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, x + 16 + room.width > width ? x - 12 - room.width : x + 16)}px`;
    this.tip.style.top = `${Math.max(4, y + 16 + room.height > height ? y - 12 - room.height : y + 16)}px`;
  }

  speak(reading: Reading | null): void {
    this.spoken.textContent = reading
      ? `${reading.value} ${reading.unit}${reading.note ? `, ${reading.note}` : ""}, at ${reading.place}`
      : "Outside the map";
  }
}
