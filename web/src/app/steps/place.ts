/** The third step: the place, which is public. */
import { button, el } from "../../dom";
import { api, type Place, upload } from "../api";
import type { Box, BoxMap } from "../boxmap";
import { change, draft } from "../draft";
import { maps } from "../maps";
import { goIfPlanned, input, instead, labelled, Problem, radios, soon, steps } from "../parts";
import { factsInWords, factsOf } from "../placewords";
import { fill, percent, t } from "../texts";
import { AxisPart } from "./axis";
import { discoverPanel } from "./discover";

type Kind = Place["kind"] | "discover";

const TOWN = 10; // km from the middle of a town to the edge of its box
const DEGREE = 111.32; // km on the equator
const MARGIN = 40; // pixels around a box on the map

/** The place step; what it returns ends it. */
export function placeStep(root: HTMLElement): () => void {
  if (!draft.columns) {
    instead("columns");
    return () => undefined;
  }
  const problem = new Problem();
  const panel = el("div", { class: "panel-of-place" });
  const axis = new AxisPart();
  const told = el("p", { class: "stored", role: "status", hidden: "" });
  let end: () => void = () => undefined;
  const choose = (kind: Kind): void => {
    end();
    panel.replaceChildren();
    problem.clear();
    told.hidden = true;
    if (kind !== "discover" && draft.place?.kind !== kind) change({ place: kind === "unit" ? { kind } : null, picture: null });
    if (kind === "bbox") end = boxPanel(panel, problem);
    else if (kind === "image") end = imagePanel(panel, problem);
    else if (kind === "discover") end = discoverPanel(panel, problem, discovered);
    else {
      panel.append(el("p", { class: "note" }, t.place.unit_note));
      end = () => undefined;
    }
  };
  const discovered = (place: Place, words: string): void => {
    change({ place, picture: null });
    choose(place.kind);
    choice.querySelectorAll("input").forEach((radio) => (radio.checked = radio.value === place.kind));
    told.textContent = words;
    told.hidden = false;
  };
  const kinds: [Kind, string][] = [["bbox", t.place.bbox], ["image", t.place.image], ["unit", t.place.unit], ["discover", t.place.discover]];
  const first: Kind = draft.place?.kind ?? "bbox";
  const choice = radios(t.place.kind, kinds, first, (kind) => choose(kind as Kind));
  root.append(
    el("h1", { tabindex: "-1" }, t.place.heading),
    el("p", { class: "lead" }, t.place.lead),
    problem.element,
    choice,
    told,
    panel,
    axis.element,
    steps("columns", {
      text: t.shell.next,
      action: () => {
        if (!draft.place) return problem.show(t.place.incomplete);
        const { place } = draft;
        axis.isReady().then((ready) => ready && goIfPlanned("strength", place, "1", problem), (error: unknown) => problem.show(error)); // epsilon is the next step's
      },
    }),
  );
  choose(first);
  return () => end();
}

/** A box: drawn, typed, or around a town; each change can be undone. */
function boxPanel(root: HTMLElement, problem: Problem): () => void {
  let map: BoxMap | null = null;
  let over = false;
  const history: (Box | null)[] = [];
  const now = (): Box | null => (draft.place?.kind === "bbox" ? draft.place.bounds : null);
  const names = [t.place.west, t.place.south, t.place.east, t.place.north];
  const edges = names.map(() => input({ type: "number", step: "any", inputmode: "decimal" }, () => typed()));
  const resolution = input({ type: "number", min: "0", step: "any", inputmode: "decimal" }, () => store(now()));
  const undo = button(t.place.undo, () => {
    if (history.length) show(history.pop() ?? null, MARGIN);
  });
  const place = draft.place;
  if (place?.kind === "bbox" && place.resolution) resolution.value = String(place.resolution);

  const store = (box: Box | null): void => {
    const detail = resolution.value === "" ? {} : { resolution: Number(resolution.value) };
    change({ place: box && { kind: "bbox", bounds: box, ...detail } });
  };
  /** Tell the town and what looks wrong, from the box alone. */
  const tell = soon(() => {
    const asked = draft.place;
    const known = asked ? factsOf(asked).catch(() => null) : Promise.resolve(null); // the next step tells what is no box
    void known.then((facts) => !over && asked === draft.place && about.replaceChildren(...(facts ? factsInWords(facts) : [])));
  });
  const show = (box: Box | null, margin: number | null): void => {
    store(box);
    edges.forEach((edge, i) => (edge.value = box ? String(box[i]) : ""));
    map?.show(box, margin);
    tell();
    undo.disabled = history.length === 0;
    problem.clear();
  };
  const set = (box: Box, margin: number | null): void => {
    history.push(now());
    show(box, margin);
  };
  const typed = (): void => {
    const values = edges.map((edge) => (edge.value === "" ? NaN : Number(edge.value)));
    if (values.every(Number.isFinite)) set(values as Box, MARGIN);
  };

  const draw = button(t.place.draw, () => map?.draw(draw.getAttribute("aria-pressed") !== "true"), { "aria-pressed": "false" });
  const hint = el("p", { class: "status", role: "status" });
  const frame = el("div", { class: "boxmap" });
  const about = el("div", { class: "about-place", "aria-live": "polite" });
  root.append(
    townField((lon, lat) => set(around(lon, lat), MARGIN), problem),
    el("div", { class: "buttons" }, draw, button(t.place.view, () => map && set(map.view(), null)), undo),
    hint,
    frame,
    el("p", { class: "credit" }, t.place.credit),
    about,
    el("div", { class: "grid four" }, ...edges.map((edge, i) => labelled(names[i], edge))),
    labelled(t.place.resolution, resolution, t.place.resolution_note),
  );
  show(now(), null);

  const build = async (): Promise<void> => {
    const [{ BoxMap }, basemap] = await Promise.all([maps(), api.basemap([-180, -85, 180, 85])]);
    if (over) return;
    map = new BoxMap(frame, {
      name: t.place.map,
      basemap,
      detail: (bounds) => api.basemap(bounds),
      drawn: (box) => set(box, null),
      drawing: (active) => {
        draw.setAttribute("aria-pressed", String(active));
        hint.textContent = active ? t.place.drawing : "";
      },
    });
    await map.ready;
    Object.assign(frame, { boxmap: map });
    map.show(now(), MARGIN);
    frame.setAttribute("data-ready", "true");
  };
  build().catch((error: unknown) => problem.show(error));
  return () => {
    over = true;
    map?.destroy();
  };
}

/** A box of about 20 km around a point. */
function around(lon: number, lat: number): Box {
  const up = TOWN / DEGREE;
  const across = up / Math.max(Math.cos((lat * Math.PI) / 180), 0.1);
  return [lon - across, lat - up, lon + across, lat + up].map((edge) => Number(edge.toFixed(4))) as Box;
}

function townField(chosen: (lon: number, lat: number) => void, problem: Problem): HTMLElement {
  const list = el("div", { class: "towns" });
  const show = async (name: string): Promise<void> => {
    const towns = name ? await api.towns(name) : [];
    if (name !== field.value.trim()) return; // something else was typed meanwhile
    list.replaceChildren(...towns.map((town) => button(town.near ? fill(t.place.near, town) : town.name, () => {
      chosen(town.lon, town.lat);
      field.focus(); // for the button goes
      list.replaceChildren();
    })));
    if (name && !towns.length) list.replaceChildren(el("p", { class: "note" }, fill(t.place.no_town, { name })));
    list.setAttribute("data-ready", name);
  };
  const ask = soon(() => show(field.value.trim()).catch((error: unknown) => problem.show(error)), 200);
  const field = input({ type: "search", autocomplete: "off" }, ask, "input");
  const made = labelled(t.place.town, field, t.place.town_note);
  made.append(list);
  return made;
}

/** An image: the picture itself, or its size. */
function imagePanel(root: HTMLElement, problem: Problem): () => void {
  const place = draft.place;
  const size = place?.kind === "image" ? place.size : null;
  const sides = [t.place.width, t.place.height].map((_, i) =>
    input({ type: "number", min: "1", step: "1", inputmode: "numeric", value: size ? String(size[i]) : "" }, () => typed()),
  );
  const shown = el("div", { class: "picture" });
  const typed = (): void => {
    const [width, height] = sides.map((side) => Number(side.value));
    const whole = Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0;
    change({ place: whole ? { kind: "image", size: [width, height] } : null, picture: null });
    shown.replaceChildren();
  };
  const show = (): void => {
    const { picture } = draft;
    if (!picture) return;
    const words = fill(t.place.size, { name: picture.name, pixels: fill(t.place.pixels, { width: picture.width, height: picture.height }) });
    shown.replaceChildren(el("img", { src: `/api/uploads/${picture.upload}/picture?show=1`, alt: "" }), el("p", {}, words));
  };
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const tell = (part: number) => shown.replaceChildren(el("p", { class: "status", role: "status" }, fill(t.file.uploading, { name: file.name, part: percent(part) })));
    tell(0);
    const sent = await upload(file, tell);
    const { width, height } = await api.picture(sent.upload);
    change({ place: { kind: "image", size: [width, height] }, picture: { upload: sent.upload, name: sent.name, width, height } });
    [sides[0].value, sides[1].value] = [String(width), String(height)];
    problem.clear();
    show();
  };
  const chooser = input({ type: "file", accept: ".png,.jpg,.jpeg,.webp", class: "hidden-input", tabindex: "-1", "aria-hidden": "true" }, () => {
    take(chooser.files?.[0]).catch((error: unknown) => {
      shown.replaceChildren();
      show();
      problem.show(error);
    });
    chooser.value = ""; // so that the same one, mended, can be chosen again
  });
  root.append(
    button(t.place.picture, () => chooser.click()),
    chooser,
    el("p", { class: "note" }, t.place.picture_note),
    shown,
    el("div", { class: "grid" }, labelled(t.place.width, sides[0]), labelled(t.place.height, sides[1])),
  );
  show();
  return () => undefined;
}
