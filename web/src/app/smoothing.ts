/** The slider for smoothing. */
import { el } from "../dom";
import type { About } from "./api";
import { input, labelled, soon } from "./parts";
import { fill, short, t } from "./texts";

const STEPS = 48; // the default is in the middle

export function smoothing({ sigma }: About, now: number | null, changed: (sigma: number) => void): HTMLElement {
  const ratio = Math.log(sigma.most / sigma.least);
  const at = (step: number) => Number((sigma.least * Math.exp((ratio * step) / STEPS)).toPrecision(3));
  const words = (value: number) => fill(t.map.smoothing_note, { value: `${short(value)} ${sigma.unit}` });
  const slide = input({ type: "range", min: "0", max: String(STEPS), step: "1" }, () => {
    const value = at(Number(slide.value));
    slide.setAttribute("aria-valuetext", `${short(value)} ${sigma.unit}`);
    note.textContent = words(value);
    later();
  }, "input");
  const later = soon(() => changed(at(Number(slide.value))));
  slide.value = String(now === null ? STEPS / 2 : Math.round((STEPS * Math.log(now / sigma.least)) / ratio));
  const made = labelled(t.map.smoothing, slide, words(now ?? sigma.default));
  const note = made.querySelector("p") as HTMLElement;
  made.append(el("p", { class: "note" }, t.shell.free));
  return made;
}
