/** For whoever answers for the budget: what was spent on whom, what each charge bought, verification and export. */
import { button, el } from "../dom";
import { api, type Entry } from "./api";
import { spendingChart } from "./chart";
import { Problem } from "./parts";
import { fill, moment, t } from "./texts";

export function account(root: HTMLElement): void {
  const problem = new Problem();
  const [charts, entries] = [el("section", { class: "charts" }), el("section", { class: "entries" })];
  const told = el("p", { class: "status", role: "status" });
  const attempt = (work: () => Promise<void>): void => {
    problem.clear();
    told.textContent = "";
    work().catch((error: unknown) => problem.show(error));
  };
  const verify = button(t.account.verify, () => attempt(async () => void (told.textContent = (await api.verify()).words)));
  const load = async (): Promise<void> => {
    const [{ ledger, populations }, found] = await Promise.all([api.budget(), api.entries()]);
    charts.append(...(populations.length ? populations.map(spendingChart) : [el("p", { class: "note" }, t.account.nothing)]));
    entries.append(el("h2", {}, t.account.entries), el("p", { class: "note" }, fill(t.release.ledger, { ledger })), table(found));
    entries.setAttribute("data-ready", String(found.length));
  };
  root.append(
    el("h1", { tabindex: "-1" }, t.account.heading),
    el("p", { class: "lead" }, t.account.lead),
    problem.element,
    el("div", { class: "buttons" }, verify, button(t.account.export, () => attempt(async () => save(await api.exported()))), button(t.account.print, () => window.print())),
    told,
    charts,
    entries,
  );
  load().catch((error: unknown) => problem.show(error));
}

function table(entries: Entry[]): HTMLElement {
  const head = [t.account.number, t.account.when, t.account.who, t.account.epsilon, t.account.bought];
  const rows = entries.map((entry) => el("tr", {}, ...[String(entry.number), moment(entry.made), entry.population, entry.epsilon].map((text) => el("td", { dir: "auto" }, text)), el("td", {}, bought(entry))));
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": t.account.entries },
    el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, ...rows)),
  );
}

function bought({ note, bought: words, id }: Entry): string | HTMLElement {
  if (note) return note;
  if (!words) return t.account.elsewhere;
  return id && words ? el("a", { href: `#map/${id}` }, words) : words;
}

/** Save the entries as a file. */
function save(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  el("a", { href: url, download: `${t.account.file}_${new Date().toISOString().slice(0, 10)}.csv` }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
