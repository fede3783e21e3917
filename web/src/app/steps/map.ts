/** The last step: what happened, the map to play with, files to take away, the label, and the same without the app. */
import { button, el } from "../../dom";
import { api, type About, type AppMap, type CountedAreas, type Population, Refusal, type Release } from "../api";
import { wanted } from "../draft";
import { countAreas } from "../countareas";
import { follow, isUnderWay } from "../follow";
import { LabelCard } from "../labelcard";
import { MapFrame } from "../mapframe";
import { maps } from "../maps";
import { outcome } from "../outcome";
import { input, labelled, Problem } from "../parts";
import { factsOf } from "../placewords";
import { smoothing } from "../smoothing";
import { count, fill, t } from "../texts";

export function mapStep(root: HTMLElement, id: string, repeated: boolean): () => void {
  const problem = new Problem();
  const [above, below, status] = [el("div", {}), el("div", {}), el("div", { class: "following" })];
  const heading = el("h1", { tabindex: "-1" }, t.map.heading);
  const lead = el("p", { class: "lead" }, `${t.map.lead} ${t.shell.free}`);
  const frames = el("div", {});
  let shown: ShownMap | null = null;
  let over = false;

  /** Wait for a release on its way; what had the focus there is gone then. */
  const made = async (begun: Release): Promise<Release> => {
    heading.textContent = t.map.making;
    const ended = await follow(status, begun, () => over);
    heading.textContent = ended.state === "cancelled" ? t.map.cancelled : t.map.heading;
    if (document.activeElement === document.body) heading.focus();
    return ended;
  };
  const load = async (): Promise<void> => {
    let release = await api.state(id);
    if (isUnderWay(release)) release = await made(release);
    if (over) return;
    if (release.state === "cancelled") return void status.replaceChildren(el("p", { role: "status" }, release.message), onwards());
    if (release.state !== "done") throw new Refusal(release.message || t.map.gone);
    shown = new ShownMap(release, problem);
    frames.append(shown.frame.element);
    lead.hidden = false;
    const [data, about, budget, facts] = await Promise.all([shown.draw(), api.about(id, release.sigma), api.budget().catch(() => null), factsOf(release.wanted.place).catch(() => null)]);
    if (over || !data) return;
    const account = budget?.populations.find(({ population }) => population === release.wanted.population);
    above.append(outcome({ release, data, repeated, account, facts }, problem), shown.titleField());
    below.append(...shown.afterwards(about, data, account));
  };
  lead.hidden = true;
  root.append(heading, lead, problem.element, status, above, frames, below);
  void maps(); // while the server is asked
  load().catch((error: unknown) => {
    if (over) return;
    if (shown?.frame.isEmpty ?? true) {
      frames.replaceChildren();
      lead.hidden = true;
      status.replaceChildren(onwards());
    }
    problem.show(error);
  });
  return () => {
    over = true;
    shown?.end();
  };
}

/** From where there is no map: back to what was chosen, as long as this tab has it, or to what there is. */
function onwards(): HTMLElement {
  const [hash, words] = wanted("") ? ["release", t.map.to_release] : ["shelf", t.map.to_shelf];
  return el("a", { class: "button", href: `#${hash}` }, words);
}

/** A map with its title, smoothing and look, which are stored with it and go into every file made of it. */
class ShownMap {
  readonly frame: MapFrame;
  private title: string;
  private sigma: number | null;
  private kept: string;
  private label: LabelCard | null = null;

  constructor(private readonly release: Release, private readonly problem: Problem) {
    ({ title: this.title, sigma: this.sigma } = release);
    this.frame = new MapFrame(release.title, release.look);
    this.kept = JSON.stringify({ title: release.title, sigma: release.sigma, look: release.look });
  }

  draw(): Promise<AppMap | null> {
    return this.frame.draw(api.map(this.release.id, this.sigma), String(this.sigma ?? "first"));
  }

  /** Store how the map is shown, if that changed. */
  async keep(): Promise<void> {
    const now = { title: this.title, sigma: this.sigma, look: this.frame.shownLook };
    const text = JSON.stringify(now);
    if (text === this.kept) return;
    await api.change(this.release.id, now);
    this.kept = text;
  }

  end(): void {
    this.keep().catch(() => undefined);
    this.frame.destroy();
  }

  titleField(): HTMLElement {
    const field = input({ type: "text", dir: "auto", autocomplete: "off", maxlength: "120", value: this.title, placeholder: t.map.untitled }, (title) => {
      this.title = title.trim();
      this.label?.call(this.title);
      Promise.all([this.keep(), this.frame.call(this.title)]).catch((error: unknown) => this.problem.show(error));
    });
    return labelled(t.map.title, field, t.map.title_note);
  }

  /** Everything below the map. */
  afterwards(about: About, data: AppMap, account: Population | undefined): HTMLElement[] {
    this.label = new LabelCard(this.release, data, account, this.problem);
    const files = el("ul", { class: "files" });
    const recipes = el("details", { class: "recipes" });
    const show = (now: About): void => {
      files.replaceChildren(...now.formats.map((format) => this.fileOf(format)));
      recipes.replaceChildren(el("summary", {}, t.map.same), code(t.map.command, now.command), code(t.map.python, now.python));
    };
    show(about);
    const changed = (value: number): void => {
      this.sigma = value;
      this.draw().catch((error: unknown) => this.problem.show(error));
      void api.about(this.release.id, value).then((now) => value === this.sigma && show(now), () => undefined); // redrawing tells
    };
    return [
      smoothing(about, this.sigma, changed),
      ...(this.release.slices ? [] : [countAreas(this.release.id, (found) => this.showAreas(data, found), (area) => this.frame.goToArea(area))]),
      ...eyes(this.release),
      el("div", { class: "beside" }, el("section", {}, el("h2", {}, t.map.downloads), el("p", { class: "note" }, t.map.downloads_note), files), this.label.element),
      recipes,
    ];
  }

  private async showAreas(data: AppMap, { layer }: CountedAreas): Promise<void> {
    await this.frame.draw(Promise.resolve({ ...data, areas: layer }), "areas");
    this.frame.show("areas");
  }

  private fileOf({ suffix, refusal }: About["formats"][number]): HTMLElement {
    const formats: Record<string, string> = this.release.slices ? t.map.series_formats : t.map.formats;
    const words = formats[suffix] ?? "";
    if (refusal) {
      const why = el("span", {}, `${words}. `, el("small", {}, refusal));
      return el("li", { class: "refused" }, el("span", { class: "suffix" }, suffix), why);
    }
    const link = el("a", { href: api.file(this.release.id, suffix, this.sigma), download: "" }, suffix);
    let ready = false;
    link.addEventListener("click", (event) => {
      if (ready) return;
      event.preventDefault(); // until what is shown is stored, for the file is made from that
      this.keep().then(() => {
        ready = true;
        link.click();
        ready = false;
      }, (error: unknown) => this.problem.show(error));
    });
    return el("li", {}, link, el("span", {}, words));
  }
}

/** Exact numbers of the reading, which are there in the session that released. */
function eyes({ private: found }: Release): HTMLElement[] {
  if (!found) return [];
  const words = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, count(value)]));
  const nobody = found.rows && !found.inside ? [el("p", { class: "over" }, t.map.nobody)] : [];
  return [el("section", { class: "private" }, el("h2", {}, t.columns.eyes), el("p", {}, fill(t.map.eyes, words)), ...nobody)];
}

function code(name: string, text: string): HTMLElement {
  const told = el("span", { role: "status" });
  const copy = button(t.map.copy, () => {
    void navigator.clipboard.writeText(text).then(() => (told.textContent = t.map.copied));
  });
  copy.setAttribute("aria-label", `${t.map.copy}: ${name}`);
  return el("div", { class: "code" }, el("h3", {}, name), el("pre", { tabindex: "0", role: "region", "aria-label": name }, text), copy, " ", told);
}
