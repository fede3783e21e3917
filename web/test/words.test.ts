import assert from "node:assert/strict";
import { test } from "node:test";
import { asksToEmbed, hashOf, pageAddress, stateOf } from "../src/address";
import type { City, MapData } from "../src/data";
import { snippet } from "../src/embed";
import { groundOf, outside } from "../src/ground";
import { layoutOf } from "../src/layout";
import { legendParts } from "../src/legend";
import { fill, range, single, upTo, words } from "../src/numbers";
import { known, nearest } from "../src/reading";
import { find } from "../src/search";
import { startOf } from "../src/state";

const START = startOf({ colours: null, style: "bands", areas: null });

test("ranges are whole numbers, outwards if they would be equal, with a decimal if they still are", () => {
  assert.deepEqual(range(82.6, 88.4), ["83", "88"]);
  assert.deepEqual(range(4.6, 5.4), ["4", "6"]);
  assert.deepEqual(range(5, 5), ["5", "5"]);
  assert.deepEqual(range(0.02, 0.4), ["0", "1"]);
  assert.deepEqual(range(1234.4, 5678), ["1,234", "5,678"]);
  assert.deepEqual(range(-5.2, -2.2, true), ["−5", "−2"]);
  assert.deepEqual(range(2, 5, true), ["+2", "+5"]);
  assert.deepEqual(range(-0.3, 0.2, true), ["−1", "+1"]);
});

test("numbers are written as people do", () => {
  assert.deepEqual([0.5, 1, 20, 1000, -5].map(words), ["0.5", "1", "20", "1,000", "−5"]);
  assert.deepEqual([0.123, 3.14, 86.4].map((value) => single(value)), ["0.12", "3.1", "86"]);
  assert.deepEqual([0.2, 1, 1.2].map(upTo), ["1", "1", "2"]);
  assert.equal(fill("{lo} to {hi}, {other}", { lo: "1", hi: "{lo}" }), "1 to {lo}, {other}");
});

const DATA = {
  kind: "bbox",
  signed: false,
  nothing: null,
  edges: [1, 2, 5],
  low: {},
  top: 8,
  light: { bands: ["#F8DE96", "#DF4548", "#47175F"], fewer: [], opacity: [0.7, 0.8, 0.9], swatches: ["#a", "#b", "#c"], fewerSwatches: [] },
  legend: { title: "T", short: "S", under: "under 1", bare: "Bare", rough: "Rough", outside: "Outside", notes: [], less: "", more: "" },
  reading: { range: "{lo} to {hi} here", bare: "Under {hi} here", value: "About {v} here", sure: "9 in 10", outside: "Nothing", cantTell: "No change" },
} as unknown as MapData;

test("a reading is a range, an upper end where it can't be told, or a value where nothing is known", () => {
  assert.deepEqual(known(DATA, { value: 85, low: 83, high: 88, clarity: 9 }), { words: "83 to 88 here", sure: "9 in 10" });
  assert.deepEqual(known(DATA, { value: 1, low: 0, high: 3.4, clarity: 0.5 }), { words: "Under 4 here", sure: "9 in 10" });
  assert.deepEqual(known(DATA, { value: 85.2, low: null, high: null, clarity: Infinity }), { words: "About 85 here", sure: "" });
  const change = { ...DATA, signed: true };
  assert.equal(known(change, { value: -4, low: -6, high: -2, clarity: 0.9 }).words, "No change");
  assert.equal(known(change, { value: -4, low: -6, high: -2, clarity: 1.2 }).words, "−6 to −2 here");
});

test("the legend names every band for those who don't see it", () => {
  const parts = legendParts(DATA, START, "light");
  assert.deepEqual(parts.boxes.map(({ words }) => words), ["under 1", "1 to 2", "2 to 5", "5 and more"]);
  assert.deepEqual(parts.boxes.map(({ tick }) => tick), ["", "1", "2", "5"]);
  assert.deepEqual(parts.rows.map(({ swatch }) => swatch), ["bare", "rough", "outside"]);
  const smooth = legendParts(DATA, { ...START, smooth: true }, "light").boxes[1].colours ?? [];
  assert.notEqual(smooth[0], smooth[1]);
  const sure = legendParts(DATA, { ...START, show: "sure" }, "light");
  assert.deepEqual(sure.boxes.map(({ tick }) => tick), ["", "100 %", "50 %", "25 %", "10 %"]);
});

test("the legend of a gradient ends where its scale does", () => {
  const lasts = [5, 8].map((top) => legendParts({ ...DATA, top }, { ...START, smooth: true }, "light").boxes[3].colours ?? []);
  assert.equal(lasts[0][0], lasts[0][1]);
  assert.notEqual(lasts[1][0], lasts[1][1]);
  assert.equal(lasts[0][1], lasts[1][1]);
});

test("the legend of changes has fewer on the left and more on the right", () => {
  const light = { ...DATA.light, fewerSwatches: ["#x", "#y", "#z"] };
  const change = { ...DATA, signed: true, light, legend: { ...DATA.legend, under: "can’t tell", less: "← Fewer", more: "More →" } };
  const { boxes } = legendParts(change, START, "light");
  assert.deepEqual(boxes.map(({ words }) => words), ["−5 and below", "−5 to −2", "−2 to −1", "can’t tell", "+1 to +2", "+2 to +5", "+5 and more"]);
  assert.deepEqual(boxes.map(({ tick }) => tick), ["−5", "−2", "−1", "", "+1", "+2", "+5"]);
});

test("a map without signal has no colours in its legend", () => {
  const { boxes, rows } = legendParts({ ...DATA, nothing: { heading: "", text: "" } }, START, "light");
  assert.deepEqual([boxes, rows[0]], [[], { swatch: "lines", text: "Bare" }]);
});

test("the layout goes by the room", () => {
  const here = { embed: false, framed: false };
  assert.equal(layoutOf(1400, 900, here), "wide");
  assert.equal(layoutOf(390, 844, here), "narrow");
  assert.equal(layoutOf(600, 400, here), "embed");
  assert.equal(layoutOf(1400, 900, { embed: true, framed: false }), "embed");
  assert.equal(layoutOf(800, 520, { embed: false, framed: true }), "embed");
  assert.equal(layoutOf(800, 520, here), "narrow");
});

test("an address tells what is seen, and nothing else", () => {
  const state = { show: "sure", theme: "dark", smooth: true, view: { zoom: 12.345, lat: 40.71234567, lng: -74.01 }, slice: null } as const;
  const hash = hashOf(state, START);
  assert.equal(hash, "#map=12.35/40.71235/-74.01&show=sure&theme=dark&style=smooth");
  assert.deepEqual(stateOf(hash, START), { ...state, view: { zoom: 12.35, lat: 40.71235, lng: -74.01 } });
  assert.equal(hashOf(START, START), "");
  assert.equal(hashOf(START, START, true), "#embed");
  for (const nonsense of ["", "#", "#map=", "#map=1/2", "#map=a/b/c", "#map=1/95/3", "#theme=pink&show=all"]) {
    assert.deepEqual(stateOf(nonsense, START), START);
  }
});

test("an address can undo what a map starts with", () => {
  const start = startOf({ colours: "dark", style: "smooth", areas: null });
  assert.equal(hashOf(START, start), "#theme=auto&style=bands");
  assert.deepEqual(stateOf("#theme=auto&style=bands", start), START);
  assert.deepEqual(stateOf("", start), start);
});

test("pages know when they are embedded, and where they are", () => {
  assert.ok(asksToEmbed({ search: "?embed", hash: "" }) && asksToEmbed({ search: "", hash: "#embed&theme=dark" }));
  assert.ok(!asksToEmbed({ search: "?a=1", hash: "#map=1/2/3" }));
  assert.equal(pageAddress({ href: "https://a.example/m.html?embed&x=1#map=1/2/3" }), "https://a.example/m.html?x=1");
  assert.equal(pageAddress({ href: "about:srcdoc" }), "");
});

test("the snippet is one element, whatever the title", () => {
  const text = snippet('Say "hi" & <bye>', "https://a.example/m.html", "#embed&theme=dark");
  assert.ok(text.startsWith('<iframe src="https://a.example/m.html#embed&amp;theme=dark" title="Say &quot;hi&quot; &amp; &lt;bye>" width="600" height="400" loading="lazy"'));
  assert.match(snippet("t", "file:///home/me/my%20map.html", ""), /src="my map.html"/);
  assert.match(snippet("t", "", ""), /src="map.html"/);
});

const CITIES: City[] = [["Zürich", 8.54, 47.37, 400_000], ["Springfield", -72.6, 42.1, 150_000], ["Springfield", -93.3, 37.2, 160_000], ["Bern", 7.44, 46.95, 130_000]];

test("places are found by name, without accents, the nearest of several", () => {
  const boston = { lng: -71, lat: 42.3 };
  assert.equal(find("zurich", CITIES, boston)?.name, "Zürich");
  assert.equal(find(" SPRING", CITIES, boston)?.lng, -72.6);
  assert.equal(find("field", CITIES, { lng: -93, lat: 37 })?.lng, -93.3);
  assert.equal(find("Atlantis", CITIES, boston), null);
  assert.equal(find(" ", CITIES, boston), null);
  assert.deepEqual(find("40.7, −74.0", CITIES, boston), { lng: -74, lat: 40.7, name: "40.7, −74.0" });
  assert.equal(find("95, 10", CITIES, boston), null);
});

test("the nearest name is told with how far it is", () => {
  const found = nearest(CITIES, { lng: 7.5, lat: 47 });
  assert.equal(found?.name, "Bern");
  assert.ok(found.away > 5 && found.away < 10);
  assert.equal(nearest([], { lng: 0, lat: 0 }), null);
});

test("what is finer replaces the world's coast in its window", () => {
  const window: [number, number, number, number] = [0, 0, 2, 2];
  assert.deepEqual(outside([[-1, 1], [3, 1]], window), [[[-1, 1], [0, 1]], [[2, 1], [3, 1]]]);
  assert.deepEqual(outside([[0.5, 0.5], [1, 1], [1, 3], [4, 3]], window), [[[1, 2], [1, 3], [4, 3]]]);
  assert.deepEqual(outside([[-1, 3], [3, 3]], window), [[[-1, 3], [3, 3]]]);
  const square = (from: number, to: number) => [from, from, to - from, 0, 0, to - from, from - to, 0, 0, from - to];
  const basemap = { land: [[square(-1000, 3000)]], borders: [], cities: [], window, rivers: [[0, 0, 10_000, 10_000]] };
  const fine = groundOf({ ...basemap, fine: [[[0, 0, 10_000, 0, 0, 20_000, -10_000, 0, 0, -20_000]]] });
  assert.equal(fine.cut.features.length, 1);
  assert.equal(fine.fine.features.length, 1);
  // Of the finer land, the side inside the window is coast; the others lie where the window cuts.
  const lines = fine.coast.features.map(({ geometry }) => (geometry as GeoJSON.LineString).coordinates);
  assert.deepEqual(lines.at(-1), [[1, 0], [1, 2]]);
  assert.deepEqual((fine.rivers.features[0].geometry as GeoJSON.LineString).coordinates, [[0, 0], [1, 1]]);
  const unknown = groundOf({ ...basemap, fine: null });
  assert.deepEqual([unknown.cut.features.length, unknown.fine.features.length], [0, 1]); // land all over, no coast
});
