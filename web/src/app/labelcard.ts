/** The privacy label of a map, to be printed: what is promised to whom, by whom it is published, and what was spent. */
import { button, el } from "../dom";
import { api, type AppMap, type Population, type Release } from "./api";
import { input, labelled, type Problem } from "./parts";
import { placeInWords } from "./placewords";
import { fill, moment, t } from "./texts";

export class LabelCard {
  readonly element: HTMLElement;
  private readonly title = el("p", { class: "label-title", dir: "auto" });
  private readonly publisher = el("dd", { dir: "auto" });

  constructor(private readonly release: Release, data: AppMap, account: Population | undefined, problem: Problem) {
    const { wanted, made, id, town, slices } = release;
    const limit = account?.limit ? fill(t.label.spent, { limit: account.limit, spent: account.spent, when: moment(new Date().toISOString()) }) : t.label.no_limit;
    const facts: [string, HTMLElement][] = [
      [t.label.publisher, this.publisher],
      [t.label.population, el("dd", { dir: "auto" }, wanted.population)],
      [t.label.epsilon, el("dd", {}, wanted.epsilon)],
      [t.label.limit, el("dd", {}, limit)],
      [t.label.place, el("dd", {}, `${town ? `${fill(t.shelf.near, { town })}, ` : ""}${placeInWords(wanted.place)}`)],
      ...(slices ? [[t.label.slices, el("dd", {}, slices)] as [string, HTMLElement]] : []),
      [t.label.made, el("dd", {}, moment(made))],
    ];
    this.element = el(
      "section",
      { class: "label-card" },
      el("h2", {}, t.map.label),
      el("div", { class: "label-head" }, el("img", { src: api.thumbnail(id), alt: fill(t.shelf.thumbnail, { name: release.title || release.file }) }), el("div", {}, this.title, ...data.warnings.map((text) => el("p", { class: "over" }, text)))),
      el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), value])),
      this.publisherField(problem),
      ...data.label.flatMap(({ heading, text }) => [el("h3", {}, heading), el("p", {}, text)]),
      el("p", { class: "note" }, data.facts.join(" ")),
      button(t.map.print, () => this.print()),
    );
    this.call(release.title);
  }

  /** Give the label the map's title. */
  call(title: string): void {
    this.title.textContent = title || t.map.untitled;
  }

  /** A field that is filled in once for all maps. */
  private publisherField(problem: Problem): HTMLElement {
    const field = input({ type: "text", dir: "auto", autocomplete: "organization", maxlength: "120" }, (name) => {
      api.publish(name).then(show, (error: unknown) => problem.show(error));
    });
    const show = ({ publisher }: { publisher: string }): void => {
      field.value = publisher;
      this.publisher.textContent = publisher || t.label.nobody;
    };
    show({ publisher: "" });
    api.settings().then(show, (error: unknown) => problem.show(error));
    return labelled(t.label.publisher, field, t.label.publisher_note);
  }

  /** Print the label alone, under a name that says that it is public. */
  private print(): void {
    const before = document.title;
    document.title = `${t.label.file} ${this.release.title || this.release.file}`;
    window.print();
    document.title = before;
  }
}
