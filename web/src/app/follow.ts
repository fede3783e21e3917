/** A release on its way: progress, cancelling, and how it ended. */
import { button, el } from "../dom";
import { api, type Release } from "./api";
import { fill, t } from "./texts";

const UNDER_WAY: string[] = ["waiting", "reading", "charging", "drawing"];
const PAUSE = 250; // milliseconds between looks

export const isUnderWay = (release: Release): boolean => UNDER_WAY.includes(release.state);

/** Show a release until it is over; the promise gives how it ended. */
export async function follow(root: HTMLElement, begun: Release, isOver: () => boolean): Promise<Release> {
  const words = el("p", { role: "status" });
  const progress = el("progress", { max: "1", "aria-label": t.release.progress });
  const cancel = button(t.release.cancel, () => {
    cancel.disabled = true;
    api.cancel(begun.id).catch(() => undefined); // the next look tells
  });
  root.replaceChildren(words, progress, cancel);
  let release = begun;
  while (isUnderWay(release) && !isOver()) {
    const free = release.state === "waiting" || release.state === "reading";
    const slice = release.state === "drawing" && release.drawn;
    const text = slice ? fill(t.release.drawing_slice, { number: slice[0], of: slice[1] }) : { waiting: t.release.waiting, reading: t.release.reading, charging: t.release.charging, drawing: t.release.drawing }[release.state as "waiting"];
    if (words.textContent !== text) words.textContent = text;
    if (slice) progress.value = (slice[0] - 1) / slice[1];
    else if (release.part !== undefined && release.part > 0 && free) progress.value = release.part;
    else progress.removeAttribute("value");
    cancel.hidden = !free;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    release = await api.state(release.id);
  }
  root.replaceChildren();
  return release;
}
