/** Who pays: the people that a release is about, and what the ledger has left for them. */
import { el } from "../../dom";
import { api, type Budget, type Population, Refusal } from "../api";
import { change, draft, sourceOf } from "../draft";
import { value } from "../numbers";
import { input, labelled, newId } from "../parts";
import { fill, t } from "../texts";

const rounded = (number: number): string => String(Number(number.toFixed(6)));

interface Asked {
  name: string;
  typed: boolean;
}

export class BudgetPart {
  readonly element = el("section", { class: "budget" });
  private budget: Budget = { ledger: "", populations: [] };
  private charged: string[] = [];
  private loading = Promise.resolve();
  private readonly words = el("div", { "aria-live": "polite" });
  private readonly name: HTMLInputElement;
  private readonly limit = input({ type: "text", inputmode: "decimal", autocomplete: "off", value: "3" }, () => this.show(), "input");
  private readonly limitField = labelled(t.release.limit, this.limit, t.release.limit_note);
  private readonly known = el("datalist", { id: newId() });

  constructor(private readonly cost: () => string) {
    this.name = input({ type: "text", dir: "auto", autocomplete: "off", list: this.known.id, maxlength: "200", value: draft.population }, (population) => {
      change({ population: population.trim() });
      this.show();
    }, "input");
    const who = labelled(t.release.population, this.name, t.release.population_note);
    this.element.append(who, this.known, this.limitField, this.words);
    this.show();
  }

  load(): Promise<void> {
    return (this.loading = this.fetch());
  }

  private async fetch(): Promise<void> {
    const source = sourceOf(draft);
    const charged = source ? api.charged(source).catch(() => null) : null; // a file that is gone is told of later
    this.take(await api.budget());
    this.charged = (await charged)?.populations ?? [];
    this.show();
  }

  /** What is asked for at this moment: a limit typed now counts, also if the ledger's own one comes later. */
  asked(): Asked {
    return { name: this.name.value.trim(), typed: !this.limitField.hidden && this.limit.value !== this.limit.defaultValue };
  }

  /** The population's name, after a limit was set for it where there was none. */
  async ready({ name, typed }: Asked): Promise<string> {
    if (!name) throw new Refusal(t.release.nobody);
    await this.loading; // whoever is fast must not set a limit that there is
    if (!(value(this.account?.whole ?? this.limit.value.trim()) > 0)) throw new Refusal(t.release.bad_limit);
    if (!this.account?.limit || typed) this.take(await api.limit(name, this.limit.value.trim()));
    return name;
  }

  show(): void {
    const { account } = this;
    const limit = account?.whole ?? this.limit.value.trim();
    this.limitField.hidden = Boolean(account?.limit);
    const [spent, cost] = [value(account?.spent ?? "0"), value(this.cost())];
    const left = account?.left ? value(account.left) : value(limit) - spent;
    const over = !(cost <= left + 1e-12);
    const words = { epsilon: this.cost(), left: rounded(over ? left : left - cost) };
    const name = this.name.value.trim();
    const others = name ? this.charged.filter((known) => known !== name) : [];
    const told = !(value(limit) > 0) ? t.release.bad_limit : !over ? t.release.cost : left > 1e-12 ? t.release.over : t.release.used_up;
    this.words.replaceChildren(
      el("p", {}, account?.words ? `${account.words}.` : account ? fill(t.release.left, { spent: account.spent, limit, left: rounded(left) }) : t.release.fresh),
      bar(spent, cost, value(limit)),
      ...(others.length ? [el("p", { class: "other-name" }, fill(t.release.other_name, { names: others.join(", ") }))] : []),
      el("p", { class: over ? "over" : "cost" }, fill(told, words)),
      el("p", { class: "note" }, fill(t.release.ledger, { ledger: this.budget.ledger })),
    );
  }

  private get account(): Population | undefined {
    return this.budget.populations.find(({ population }) => population === this.name.value.trim());
  }

  private take(budget: Budget): void {
    this.budget = budget;
    this.known.replaceChildren(...budget.populations.map(({ population }) => el("option", { value: population })));
    this.show();
  }
}

/** Spent, this release, and what is left, as parts of a line. */
function bar(spent: number, cost: number, limit: number): HTMLElement {
  const part = (kind: string, share: number) => {
    const made = el("span", { class: kind });
    made.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    return made;
  };
  const made = el("div", { class: "bar", "aria-hidden": "true" });
  if (limit > 0) made.append(part("spent", spent / limit), part("now", Math.min(cost, limit - spent) / limit));
  return made;
}
