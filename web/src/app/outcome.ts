/**
 * What stands above a map: what happened, what it cost, and warnings. All of it comes from the ledger, the noisy map and
 * the public place. How many rows lie inside is no part of it: that is told below, for the eyes of the data's holder.
 */
import { button, el } from "../dom";
import { api, type AppMap, type PlaceFacts, type Population, type Release } from "./api";
import { wanted } from "./draft";
import { go, type Problem } from "./parts";
import { fill, moment, t } from "./texts";

export interface Told {
  release: Release;
  data: AppMap;
  repeated: boolean;
  account: Population | undefined;
  facts: PlaceFacts | null;
}

export function outcome({ release, data, repeated, account, facts }: Told, problem: Problem): HTMLElement {
  const { epsilon, population } = release.wanted;
  const happened = repeated ? fill(t.outcome.same, { made: moment(release.made) }) : fill(t.outcome.made, { made: moment(release.made), epsilon, population });
  const left = account?.left ? [el("p", { class: "note" }, fill(t.outcome.left, { left: account.left, limit: account.limit ?? "", population }))] : [];
  const silent = data.stands_out ? [] : [t.outcome.silent, ...(facts ? [facts.words, ...facts.warnings] : [])];
  return el(
    "section",
    { class: "outcome", "aria-label": t.outcome.heading },
    el("p", { role: "status", class: "happened" }, happened),
    ...left,
    ...[...silent, ...data.warnings].map((text) => el("p", { class: "over" }, text)),
    ...(release.message ? [el("p", {}, release.message)] : []),
    ...(repeated ? again(release, problem) : []),
  );
}

/** The same was asked for before: how to pay for another one. */
function again(release: Release, problem: Problem): HTMLElement[] {
  const more = wanted(release.wanted.population);
  if (!more) return [];
  const made = button(t.map.again, () => {
    made.disabled = true;
    api.release({ ...more, after: release.id }).then(({ id }) => go(`map/${id}`), (error: unknown) => problem.show(error));
  });
  return [made, el("p", { class: "note" }, t.map.again_note)];
}
