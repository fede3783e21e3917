/** The last step: the map to play with, files to take away, the label, and the same without the app. */
import type { HeatmapView } from "../../component";
import type { MapData } from "../../data";
import { button, el } from "../../dom";
import { api, type About, Refusal, type Release } from "../api";
import { wanted } from "../draft";
import { follow, isUnderWay } from "../follow";
import { maps } from "../maps";
import { go, input, labelled, Problem, soon } from "../parts";
import { placeInWords } from "../placewords";
import { count, fill, moment, short, t } from "../texts";

const STEPS = 48; // of the slider for smoothing

export function mapStep(root: HTMLElement, id: string, repeated: boolean): () => void {
  const problem = new Problem();
  const frame = el("div", { class: "map-frame" });
  const below = el("div", {});
  const status = el("div", { class: "following" });
  let view: HeatmapView | null = null;
  let mounted: Promise<void> = Promise.resolve();
  let asked = 0;
  let over = false;

  /** Draw the map; of several that are asked for at once, whatever their order of arrival, the last one stays. */
  const draw = async (sigma: number | null): Promise<MapData | null> => {
    const turn = ++asked;
    frame.setAttribute("aria-busy", "true");
    const [{ HeatmapView }, data] = await Promise.all([maps(), api.map(id, sigma)]);
    await mounted.catch(() => undefined);
    if (over || turn !== asked) return null;
    mounted = (async () => {
      view?.destroy();
      view = null;
      view = await HeatmapView.mount(frame, data);
    })();
    await mounted;
    if (over) view?.destroy();
    if (over || turn !== asked) return null;
    Object.assign(window, { dpheatmap: view });
    frame.removeAttribute("aria-busy");
    frame.setAttribute("data-ready", String(sigma ?? "first"));
    return data;
  };
  const heading = el("h1", { tabindex: "-1" }, t.map.heading);
  const lead = el("p", { class: "lead" }, `${t.map.lead} ${t.shell.free}`);
  const named = (words: string, shown: boolean): void => {
    heading.textContent = words;
    lead.hidden = frame.hidden = !shown;
  };
  /** Wait for a release on its way; what had the focus there is gone then. */
  const made = async (begun: Release): Promise<Release> => {
    named(t.map.making, false);
    const ended = await follow(status, begun, () => over);
    named(ended.state === "cancelled" ? t.map.cancelled : t.map.heading, ended.state === "done");
    if (document.activeElement === document.body) heading.focus();
    return ended;
  };
  const load = async (): Promise<void> => {
    let release = await api.state(id);
    if (isUnderWay(release)) release = await made(release);
    if (over) return;
    if (release.state === "cancelled") return void status.replaceChildren(el("p", { role: "status" }, release.message), onwards());
    if (release.state !== "done") throw new Refusal(release.message || t.map.gone);
    const [data, about] = await Promise.all([draw(null), api.about(id, null)]);
    if (over || !data) return;
    if (repeated) below.append(stored(release, problem));
    below.append(...afterwards(release, about, data, (sigma) => draw(sigma).catch((error: unknown) => problem.show(error))));
  };
  root.append(heading, lead, problem.element, status, frame, below);
  void maps(); // while the server is asked
  load().catch((error: unknown) => {
    if (over) return;
    frame.hidden = lead.hidden = !view;
    problem.show(error);
    if (!view) status.replaceChildren(onwards());
  });
  return () => {
    over = true;
    view?.destroy();
  };
}

/** From where there is no map: back to what was chosen, as long as this tab has it, or to what there is. */
function onwards(): HTMLElement {
  const [hash, words] = wanted("") ? ["release", t.map.to_release] : ["shelf", t.map.to_shelf];
  return el("a", { class: "button", href: `#${hash}` }, words);
}

/** Everything below the map. */
function afterwards(release: Release, about: About, data: MapData, redraw: (sigma: number) => void): HTMLElement[] {
  let sigma: number | null = null;
  const files = el("ul", { class: "files" });
  const recipes = el("section", { class: "recipes" });
  const show = (now: About): void => {
    files.replaceChildren(...now.formats.map((format) => fileOf(release.id, format, sigma)));
    recipes.replaceChildren(el("h2", {}, t.map.same), code(t.map.command, now.command), code(t.map.python, now.python));
  };
  show(about);
  const changed = (value: number): void => {
    sigma = value;
    redraw(value);
    void api.about(release.id, value).then((now) => value === sigma && show(now), () => undefined); // redrawing tells
  };
  return [
    smoothing(about, changed),
    ...eyes(release),
    el("div", { class: "beside" }, el("section", {}, el("h2", {}, t.map.downloads), files), label(release, data)),
    recipes,
  ];
}

/** Exact numbers of the reading, which are there in the session that released. */
function eyes({ private: found }: Release): HTMLElement[] {
  if (!found) return [];
  const words = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, count(value)]));
  const nobody = found.rows && !found.inside ? [el("p", { class: "over" }, t.map.nobody)] : [];
  return [el("section", { class: "private" }, el("h2", {}, t.columns.eyes), el("p", {}, fill(t.map.eyes, words)), ...nobody)];
}

function smoothing({ sigma }: About, changed: (sigma: number) => void): HTMLElement {
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
  slide.value = String(STEPS / 2);
  const made = labelled(t.map.smoothing, slide, words(sigma.default));
  const note = made.querySelector("p") as HTMLElement;
  made.append(el("p", { class: "note" }, t.shell.free));
  return made;
}

function fileOf(id: string, { suffix, refusal }: About["formats"][number], sigma: number | null): HTMLElement {
  const words = (t.map.formats as Record<string, string>)[suffix] ?? "";
  if (refusal) {
    const why = el("span", {}, `${words}. `, el("small", {}, refusal));
    return el("li", { class: "refused" }, el("span", { class: "suffix" }, suffix), why);
  }
  const address = api.file(id, suffix, suffix === ".dph.parquet" ? null : sigma);
  return el("li", {}, el("a", { href: address, download: "" }, suffix), el("span", {}, words));
}

/** What a map promises; printed, it says by its place and date which map it goes with. */
function label({ wanted: { place } }: Release, data: MapData): HTMLElement {
  return el(
    "section",
    { class: "label-card" },
    el("h2", {}, t.map.label),
    ...data.warnings.map((text) => el("p", { class: "over" }, text)),
    ...data.label.flatMap(({ heading, text }) => [el("h3", {}, heading), el("p", {}, text)]),
    el("p", { class: "note" }, [placeInWords(place), ...data.facts].join(" · ")),
    button(t.map.print, () => window.print()),
  );
}

function code(name: string, text: string): HTMLElement {
  const told = el("span", { role: "status" });
  const copy = button(t.map.copy, () => {
    void navigator.clipboard.writeText(text).then(() => (told.textContent = t.map.copied));
  });
  copy.setAttribute("aria-label", `${t.map.copy}: ${name}`);
  return el("div", { class: "code" }, el("h3", {}, name), el("pre", { tabindex: "0", role: "region", "aria-label": name }, text), copy, " ", told);
}

/** The same was asked for before: here it is, and how to pay for another one. */
function stored(release: Release, problem: Problem): HTMLElement {
  const words = el("p", { role: "status" }, fill(t.release.stored, { made: moment(release.made) }));
  const more = wanted(release.wanted.population);
  if (!more) return el("section", { class: "stored" }, words);
  const again = button(t.map.again, () => {
    again.disabled = true;
    api.release({ ...more, after: release.id }).then(({ id }) => go(`map/${id}`), (error: unknown) => problem.show(error));
  });
  return el("section", { class: "stored" }, words, again, el("p", { class: "note" }, t.map.again_note));
}
