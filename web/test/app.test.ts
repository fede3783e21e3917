import assert from "node:assert/strict";
import { test } from "node:test";
import { value } from "../src/app/numbers";
import { type AxisForm, slicesOf } from "../src/app/draft";
import { fill, percent } from "../src/app/texts";

test("values stand in their places, and nothing in them is looked at again", () => {
  assert.equal(fill("{a} of {b}", { a: "{b}", b: 3 }), "{b} of 3");
  assert.equal(fill("{a}", {}), "");
});

test("numbers are read as the server writes them", () => {
  assert.equal(value("0.5"), 0.5);
  assert.equal(value("1/4"), 0.25);
  assert.ok(Number.isNaN(value("much")));
});

test("parts are told in percent, to three digits", () => {
  assert.equal(percent(0.7310586), "73.1\u00a0%");
  assert.equal(percent(1), "100\u00a0%");
});

test("of what was typed about slices, the chosen kind counts, and nothing is made up", () => {
  const typed: AxisForm = { kind: "both", time: "at", every: "hours", hours: "3", zone: " UTC ", from: "2026-06-01", fromTime: "", to: "2026-06-02", toTime: "06:00", group: "vehicle", groups: " bike \r\n\nbus, or tram\n", words: "" };
  const time = { time: "at", every: "3 hours", time_zone: "UTC", start: "2026-06-01", end: "2026-06-02T06:00" };
  const group = { group: "vehicle", groups: ["bike", "bus, or tram"] };
  assert.deepEqual(slicesOf({ axis: typed }), { ...time, ...group });
  assert.deepEqual(slicesOf({ axis: { ...typed, kind: "time" } }), time);
  assert.deepEqual(slicesOf({ axis: { ...typed, kind: "group" } }), group);
  assert.equal(slicesOf({ axis: { ...typed, kind: "one" } }), null);
  assert.deepEqual(slicesOf({ axis: { ...typed, kind: "group", groups: "\n" } }), { group: "vehicle" });
});
