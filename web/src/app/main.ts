/** The page: a frame with steps, and in it whatever the address asks for. */
import "./app.css";
import { button, el } from "../dom";
import { api, type Release } from "./api";
import { account } from "./account";
import { compare } from "./compare";
import { columnsComplete, draft } from "./draft";
import { maps } from "./maps";
import { shelf } from "./shelf";
import { columnsStep } from "./steps/columns";
import { fileStep } from "./steps/file";
import { mapStep } from "./steps/map";
import { placeStep } from "./steps/place";
import { releaseStep } from "./steps/release";
import { strengthStep } from "./steps/strength";
import { t } from "./texts";

type Step = keyof typeof t.steps;
type View = (root: HTMLElement, parts: string[]) => void | (() => void);

const VIEWS: Record<string, View> = {
  file: fileStep,
  columns: columnsStep,
  place: placeStep,
  strength: strengthStep,
  release: releaseStep,
  map: (root, [id, again]) => mapStep(root, id ?? "", again === "again"),
  shelf,
  account,
  compare: (root, [first, second]) => compare(root, first ?? "", second ?? ""),
};

/** Which steps can be gone to: those whose choices before them were made. */
function reachable(step: Step): boolean {
  if (step === "file") return true;
  if (step === "columns") return draft.inspection !== null;
  if (step === "place") return columnsComplete(draft);
  if (step === "map") return false;
  return columnsComplete(draft) && draft.place !== null;
}

const content = el("main", { id: "content" });
const trail = el("ol", {});
const nav = el("nav", { class: "trail", "aria-label": t.shell.steps }, trail);
const links = { new: el("a", { href: "#file" }, t.shell.new), shelf: el("a", { href: "#shelf" }, t.shell.shelf), account: el("a", { href: "#account" }, t.shell.account) };
let end: void | (() => void);
let visits = 0;

function show(): void {
  const [name, ...parts] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const known = name in VIEWS ? name : "file";
  end?.();
  content.replaceChildren();
  content.className = `view-${known}`;
  end = VIEWS[known](content, parts);
  const inTrail = known in t.steps;
  nav.hidden = !inTrail;
  if (inTrail) showTrail(known as Step);
  links.new.toggleAttribute("aria-current", inTrail);
  links.shelf.toggleAttribute("aria-current", known === "shelf" || known === "compare");
  links.account.toggleAttribute("aria-current", known === "account");
  const heading = content.querySelector("h1");
  document.title = heading ? `${heading.textContent} · ${t.shell.title}` : t.shell.title;
  if (visits++) heading?.focus();
  window.scrollTo(0, 0);
}

function showTrail(now: Step): void {
  const items = (Object.keys(t.steps) as Step[]).map((step, i) => {
    const words = [el("span", { class: "number", "aria-hidden": "true" }, String(i + 1)), el("span", {}, t.steps[step])];
    if (step === now) return el("li", { "aria-current": "step" }, el("span", {}, ...words));
    return el("li", {}, reachable(step) ? el("a", { href: `#${step}` }, ...words) : el("span", { class: "later" }, ...words));
  });
  trail.replaceChildren(...items);
}

/** What happened to releases that an earlier run of the app did not finish. */
function notices(found: Release[]): HTMLElement[] {
  if (!found.length) return [];
  const box: HTMLElement = el(
    "aside",
    { class: "notices", "aria-label": t.shell.notices },
    el("h2", {}, t.shell.notices),
    ...found.map((release) => el("p", {}, `${release.file}: ${release.message}`)),
    button(t.shell.dismiss, () => box.remove()),
  );
  return [box];
}

function build(): void {
  const skip = button(t.shell.skip, () => content.querySelector<HTMLElement>("h1")?.focus(), { class: "skip" });
  const told = el("div", {});
  document.body.replaceChildren(
    skip,
    el("header", {}, el("a", { class: "brand", href: "#file" }, t.shell.title), el("p", {}, t.shell.tagline), el("nav", { "aria-label": t.shell.title }, links.new, links.shelf, links.account)),
    nav,
    told,
    content,
  );
  window.addEventListener("hashchange", show);
  for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault()); // beside the zone: stay here
  show();
  document.body.setAttribute("data-ready", "true");
  void api.start().then(({ notices: found }) => told.replaceChildren(...notices(found)), () => undefined);
}

build();
window.setTimeout(() => void maps(), 1500); // by then the first step is there to be read
