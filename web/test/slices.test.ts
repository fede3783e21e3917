import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, stateOf } from "../src/address";
import type { MapData, SeriesData, SliceData } from "../src/data";
import { numberOf, stepped, withSlice } from "../src/slices";
import { startOf } from "../src/state";
import { along, inWords, nearestSlice, outlines, tickText, ticksOf } from "../src/volumes";

function slice(name: string, label: string, people = 10): SliceData {
  return { name, label, takeaway: `At ${label}`, volume: { people, low: people / 2, high: 2 * people, words: `${people / 2} to ${2 * people} people` } } as SliceData;
}

const SERIES = {
  of: "Time", words: "by hour of the day", loops: true, run: 3, caption: "",
  slices: [slice("0", "00:00"), slice("8", "08:00", 40), slice("mon 8", "Mon 08:00", 20)],
} satisfies SeriesData;
const CALENDAR = { ...SERIES, loops: false };

test("a cycle goes around, a calendar ends", () => {
  assert.deepEqual([0, 1, 2].map((at) => stepped(at, 1, SERIES)), [1, 2, 0]);
  assert.deepEqual([0, 1, 2].map((at) => stepped(at, -1, SERIES)), [2, 0, 1]);
  assert.deepEqual([0, 1, 2].map((at) => stepped(at, 1, CALENDAR)), [1, 2, 2]);
  assert.deepEqual([0, 1, 2].map((at) => stepped(at, -1, CALENDAR)), [0, 0, 1]);
  assert.equal(stepped(0, 1, { ...SERIES, slices: SERIES.slices.slice(0, 1) }), 0);
});

test("a slice says its time above what the map says", () => {
  const data = { title: "Where people are", subtitle: "Bern", series: SERIES } as MapData;
  const found = withSlice(data, 1);
  assert.equal(found.subtitle, "08:00, by hour of the day · Bern");
  assert.equal(found.takeaway, "At 08:00");
  assert.equal(withSlice({ ...data, subtitle: "" }, 2).subtitle, "Mon 08:00, by hour of the day");
  const single = { title: "One" } as MapData;
  assert.equal(withSlice(single, 0), single);
});

test("an address keeps the slice by its name", () => {
  const start = startOf({ colours: null, style: "bands", areas: null, series: SERIES });
  assert.equal(start.slice, "0");
  assert.equal(hashOf(start, start), "");
  for (const { name } of SERIES.slices) assert.equal(stateOf(hashOf({ ...start, slice: name }, start), start).slice, name);
  assert.equal(hashOf({ ...start, slice: "8" }, start), "#slice=8");
  assert.equal(stateOf("#slice=8", startOf({ colours: null, style: "bands", areas: null })).slice, null);
  assert.equal(numberOf(SERIES, "mon 8"), 2);
  assert.equal(numberOf(SERIES, "noon"), 0);
});

test("a place along the chart is a slice", () => {
  assert.deepEqual([0, 1, 2].map((k) => nearestSlice(along(k, 3), 3)), [0, 1, 2]);
  assert.deepEqual([-0.2, 0.24, 0.26, 1.3].map((at) => nearestSlice(at, 3)), [0, 0, 1, 2]);
  assert.deepEqual([along(0, 1), nearestSlice(0.9, 1)], [0.5, 0]);
});

test("few labels stand under the chart", () => {
  assert.deepEqual(ticksOf(7), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(ticksOf(24), [0, 3, 6, 9, 12, 15, 18, 21]);
  assert.deepEqual(ticksOf(168), [0, 24, 48, 72, 96, 120, 144]);
  for (const count of [1, 30, 365, 1000, 5000]) assert.ok(ticksOf(count).length <= 8);
  assert.deepEqual(["00:00", "Mon 00:00", "Mon 08:00", "3 Jun 2024", "Jun 2024"].map(tickText), ["00:00", "Mon", "Mon 08:00", "3 Jun", "Jun 2024"]);
});

test("the chart has a line for each run, from 0 to the highest end", () => {
  assert.deepEqual(outlines(SERIES), [
    { line: "M0.0 87.5L500.0 50.0L1000.0 75.0", band: "M0.0 75.0L500.0 0.0L1000.0 50.0L1000.0 87.5L500.0 75.0L0.0 93.8Z" },
  ]);
  const groups = outlines({ ...SERIES, run: 1 });
  assert.equal(groups.length, 3);
  assert.equal(groups[1].line, "M350.0 50.0L650.0 50.0");
  assert.equal(inWords(SERIES), "People at each step. Most: 08:00, 20 to 80 people. Fewest: 00:00, 5 to 20 people.");
});
