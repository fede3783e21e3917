/** Part of the place step: maps over time, of groups, or both. Nothing of it is filled in from the table's rows. */
import { el } from "../../dom";
import { api, type SliceFacts, type SliceField } from "../api";
import { type AxisForm, change, draft, slicesOf } from "../draft";
import { input, labelled, newId, radios, select, soon } from "../parts";
import { t } from "../texts";

const CYCLES = ["hour-of-day", "weekday", "hour-of-week"]; // which need no range

export class AxisPart {
  readonly element: HTMLElement;
  private readonly problems = new Map<SliceField, HTMLElement>();
  private readonly panel = el("div", { class: "axis-fields" });
  private readonly told = el("div", { class: "axis-told", "aria-live": "polite" });
  private turn = 0;
  private strict = false; // whether empty fields are told of, too

  constructor() {
    const kinds: [AxisForm["kind"], string][] = [["one", t.axis.one], ["time", t.axis.over_time], ["group", t.axis.of_groups], ["both", t.axis.both]];
    const choice = radios(t.axis.kind, kinds, draft.axis.kind, (kind) => {
      this.set({ kind: kind as AxisForm["kind"] });
      this.show();
    });
    this.element = el("section", { class: "axis" }, el("h2", {}, t.axis.heading), el("p", { class: "note" }, t.axis.lead), choice, this.panel, this.told);
    this.show();
  }

  /** Whether slices are as they should be; if not, the field tells, and has the focus. */
  async isReady(): Promise<boolean> {
    this.strict = true;
    const turn = ++this.turn;
    const { problem } = await this.facts();
    if (turn === this.turn) this.tell(problem);
    if (problem) this.fieldOf(problem.field)?.focus();
    return !problem;
  }

  private set(part: Partial<AxisForm>): void {
    change({ axis: { ...draft.axis, ...part } });
    this.later();
  }

  /** What is wrong is told while it is typed; that a field is still empty, from the first try to go on. */
  private readonly later = soon(() => {
    const turn = ++this.turn;
    void this.facts().then(
      ({ problem }) => turn === this.turn && this.tell(problem && (this.strict || this.isFilled(problem.field)) ? problem : null),
      () => undefined, // the end of the step tells
    );
  });

  private async facts(): Promise<SliceFacts> {
    const { axis, inspection } = draft;
    const asked = slicesOf(draft);
    this.told.replaceChildren();
    if (!asked) return { problem: null };
    const missing = missingIn(axis);
    if (missing && (missing.field !== "group" || axis.kind === "group")) return { problem: missing };
    const found = await api.slices(missing ? (slicesOf({ axis: { ...axis, kind: "time" } }) ?? {}) : asked, inspection?.columns ?? {});
    if (missing) return { problem: found.problem ?? missing }; // what comes first is told first
    if (axis !== draft.axis) return found; // it was changed meanwhile
    change({ axis: { ...axis, words: found.words ?? "" } });
    this.told.replaceChildren(...[found.words ?? "", ...(found.notes ?? [])].filter(Boolean).map((words) => el("p", {}, words)));
    return found;
  }

  private tell(problem: SliceFacts["problem"]): void {
    for (const [field, place] of this.problems) {
      const words = field === problem?.field ? problem.words : "";
      place.textContent = words;
      for (const each of place.parentElement?.querySelectorAll("input, select, textarea") ?? []) each.setAttribute("aria-invalid", String(Boolean(words)));
    }
  }

  private fieldOf(field: SliceField): HTMLElement | null {
    return this.problems.get(field)?.parentElement?.querySelector("input, select, textarea") ?? null;
  }

  private isFilled(field: SliceField): boolean {
    const { axis } = draft;
    const typed: Record<SliceField, boolean> = {
      time: Boolean(axis.time), every: Boolean(axis.every), time_zone: Boolean(axis.zone.trim()), range: Boolean(axis.from && axis.to),
      group: Boolean(axis.group), groups: Boolean(axis.groups.trim()), number: true,
    };
    return typed[field];
  }

  private show(): void {
    const { kind } = draft.axis;
    this.problems.clear();
    this.panel.replaceChildren(
      ...(kind === "time" || kind === "both" ? this.timeFields() : []),
      ...(kind === "group" || kind === "both" ? this.groupFields() : []),
      ...(kind === "one" ? [] : [el("div", {}, this.problemOf("number"))]),
    );
    this.later();
  }

  private timeFields(): HTMLElement[] {
    const { axis } = draft;
    const zones = el("datalist", { id: newId() }, ...Intl.supportedValuesOf("timeZone").map((value) => el("option", { value })));
    const zone = input({ type: "text", autocomplete: "off", spellcheck: "false", list: zones.id, value: axis.zone }, (text) => this.set({ zone: text }), "input");
    const everies: [string, string][] = [["", t.columns.choose], ...Object.entries(t.axis.everies)];
    const hours = labelled(t.axis.hours, this.text("hours", { type: "number", min: "1", max: "9999", step: "1", inputmode: "numeric" }));
    const range = el("fieldset", { class: "range" });
    const every = select(everies, axis.every, (value) => {
      this.set({ every: value });
      fit();
    });
    const note = el("p", { class: "note" });
    const fit = (): void => {
      hours.hidden = draft.axis.every !== "hours";
      note.textContent = draft.axis.every && !CYCLES.includes(draft.axis.every) ? t.axis.range_needed : t.axis.range_optional;
    };
    range.append(
      el("legend", {}, t.axis.range),
      el(
        "div",
        { class: "ends" },
        labelled(t.axis.from, this.text("from", { type: "date" })),
        labelled(t.axis.from_time, this.text("fromTime", { type: "time" }), t.axis.clock_optional),
        labelled(t.axis.to, this.text("to", { type: "date" })),
        labelled(t.axis.to_time, this.text("toTime", { type: "time" }), t.axis.clock_optional),
      ),
      note,
      this.problemOf("range"),
    );
    fit();
    return [
      el(
        "div",
        { class: "grid" },
        this.field("time", labelled(t.axis.time, this.column("time"), t.axis.time_note)),
        this.field("every", el("div", {}, labelled(t.axis.every, every), hours)),
        this.field("time_zone", labelled(t.axis.zone, zone, t.axis.zone_note)),
      ),
      zones,
      range,
    ];
  }

  private groupFields(): HTMLElement[] {
    const names = el("textarea", { rows: "4", dir: "auto", spellcheck: "false" });
    names.value = draft.axis.groups;
    names.addEventListener("input", () => this.set({ groups: names.value }));
    return [
      el(
        "div",
        { class: "grid" },
        this.field("group", labelled(t.axis.group, this.column("group"))),
        this.field("groups", labelled(t.axis.groups, names, t.axis.groups_note)),
      ),
    ];
  }

  private column(name: "time" | "group"): HTMLSelectElement {
    const names = Object.keys(draft.inspection?.columns ?? {});
    return select([["", t.columns.choose], ...names.map((each): [string, string] => [each, each])], draft.axis[name], (value) => this.set({ [name]: value }));
  }

  private text(name: "hours" | "from" | "fromTime" | "to" | "toTime", attributes: Record<string, string>): HTMLInputElement {
    return input({ ...attributes, value: draft.axis[name] }, (value) => this.set({ [name]: value }), "input");
  }

  private field(name: SliceField, element: HTMLElement): HTMLElement {
    element.append(this.problemOf(name));
    return element;
  }

  private problemOf(name: SliceField): HTMLElement {
    const made = el("p", { class: "field-problem", role: "alert" });
    this.problems.set(name, made);
    return made;
  }
}

/** A choice without which the server can't say what is meant. */
function missingIn({ kind, time, every, hours, group }: AxisForm): SliceFacts["problem"] {
  if (kind !== "group" && !time) return { field: "time", words: t.axis.no_time };
  if (kind !== "group" && every === "hours" && !/^[1-9]\d*$/.test(hours.trim())) return { field: "every", words: t.axis.no_hours };
  if (kind !== "time" && !group) return { field: "group", words: t.axis.no_group };
  return null;
}
