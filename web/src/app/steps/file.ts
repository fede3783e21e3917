/** The first step: a file, dropped, chosen, or named by its path. */
import { button, el } from "../../dom";
import { api, Refusal, upload, type Source } from "../api";
import { begin, change, draft } from "../draft";
import { go, input, labelled, Problem, steps } from "../parts";
import { count, fill, percent, t } from "../texts";

const ACCEPTED = ".csv,.tsv,.txt,.gz,.zip,.parquet,.json,.jsonl,.ndjson,.xlsx,.sqlite";

export function fileStep(root: HTMLElement): () => void {
  const problem = new Problem();
  const progress = el("p", { class: "status", role: "status" });
  const told = (): void => void (progress.textContent = draft.source ? fill(t.file.chosen, { name: draft.source.name }) : "");
  let now = new AbortController(); // of the file that was named last: each ends the one before, and leaving ends all
  told();

  const open = async (source: Source, name: string, over: AbortSignal): Promise<void> => {
    progress.textContent = fill(t.file.looking, { name });
    const inspection = await api.inspect(source);
    over.throwIfAborted();
    const earlier = draft.source?.upload;
    begin();
    if (earlier) void api.forget(earlier).catch(() => undefined);
    const [user, x, y] = [inspection.guesses.user[0], inspection.guesses.x[0], inspection.guesses.y[0]];
    const columns = { user: user ?? null, x: x ?? "", y: y ?? "", weight: null };
    change({ source: { ...source, name }, inspection, columns });
    go("columns");
  };

  const take = async (file: File, over: AbortSignal): Promise<void> => {
    const { upload_limit: limit } = await api.start();
    if (file.size > limit) {
      const sizes = { size: count(Math.round(file.size / 1e6)), limit: count(Math.round(limit / 1e6)) };
      throw new Refusal(fill(t.file.too_large, { name: file.name, ...sizes }));
    }
    over.throwIfAborted();
    const tell = (part: number) => over.aborted || (progress.textContent = fill(t.file.uploading, { name: file.name, part: percent(part) }));
    tell(0);
    const sent = await upload(file, tell, over);
    await open({ upload: sent.upload }, sent.name, over).catch((error: unknown) => {
      void api.forget(sent.upload).catch(() => undefined);
      throw error;
    });
  };
  const tryExample = async (over: AbortSignal): Promise<void> => {
    const { upload, name, place, users } = await api.example();
    await open({ upload }, name, over);
    change({ place, users, population: t.file.example_people, title: t.file.example_title });
  };
  const attempt = (work: (over: AbortSignal) => Promise<void>): void => {
    now.abort();
    now = new AbortController();
    const over = now.signal;
    problem.clear();
    work(over).catch((error: unknown) => {
      if (over.aborted) return;
      told();
      problem.show(error);
    });
  };

  const taken = (file: File | undefined): void => {
    if (file) attempt((over) => take(file, over));
  };

  const chooser = input({ type: "file", accept: ACCEPTED, class: "hidden-input", tabindex: "-1", "aria-hidden": "true" }, () => {
    taken(chooser.files?.[0]);
    chooser.value = ""; // so that the same one, mended, can be chosen again
  });
  const zone = el(
    "div",
    { class: "drop" },
    el("p", { class: "drop-words" }, t.file.drop),
    el("p", { class: "note" }, t.file.or),
    button(t.file.choose, () => chooser.click(), { class: "primary" }),
    chooser,
  );
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    taken(event.dataTransfer?.files[0]);
  });

  const path = input({ type: "text", autocomplete: "off", spellcheck: "false", placeholder: "/data/trips.parquet" }, () => undefined);
  const form = el("form", { class: "path" }, labelled(t.file.path, path, t.file.path_note), el("button", { type: "submit" }, t.file.open));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = path.value.trim();
    if (!name) return problem.show(t.file.no_path);
    attempt((over) => open({ path: name }, name.split(/[\\/]/).pop() ?? name, over));
  });

  root.append(
    el("h1", { tabindex: "-1" }, t.file.heading),
    el("p", { class: "lead" }, t.file.lead),
    problem.element,
    zone,
    progress,
    el("section", { class: "example" }, el("h2", {}, t.file.example), el("p", { class: "note" }, t.file.example_note), button(t.file.example_start, () => attempt(tryExample))),
    form,
    el("p", { class: "note" }, t.file.private),
  );
  if (draft.source) root.append(steps(null, { text: t.shell.next, action: () => go("columns") }));
  return () => now.abort();
}
