import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, position, roomyTicks, ticks, withUncertainty, words } from "../src/scale";

test("positions run from 0 to 1 and stay there", () => {
  const linear = axisOf("linear", 4, false);
  assert.deepEqual([-1, 0, 1, 4, 9].map((value) => position(linear, value)), [0, 0, 0.25, 1, 1]);
  const log = axisOf("log", 1000, false);
  assert.deepEqual([0, 1, 10, 1000].map((value) => Number(position(log, value).toFixed(9))), [0, 0, 0.333333333, 1]);
  const signed = axisOf("log", 2, true);
  assert.equal(signed.kind, "linear");
  assert.deepEqual([-2, 0, 2].map((value) => position(signed, value)), [0, 0.5, 1]);
  assert.equal(position(axisOf("linear", 0, false), 0), 0);
});

test("ticks are round, inside, and few", () => {
  assert.deepEqual(ticks(axisOf("linear", 2.7, false), 5), [0, 1, 2]);
  assert.deepEqual(ticks(axisOf("linear", 0.62, false), 5), [0, 0.2, 0.4, 0.6]);
  assert.deepEqual(ticks(axisOf("linear", 2.1, true), 5), [-2, -1, 0, 1, 2]);
  assert.deepEqual(ticks(axisOf("log", 5, false), 5), [0.01, 0.1, 1]);
  for (let top = 1e-9; top < 1e9; top *= 1.37) {
    const found = ticks(axisOf("linear", top, false), 5);
    assert.ok(found.length >= 2 && found.length <= 5, `${top}: ${found}`);
    assert.ok(found.every((value) => value >= 0 && value <= top * 1.000001));
  }
});

test("labels leave room for each other", () => {
  assert.deepEqual(roomyTicks(axisOf("linear", 1e-4, false), 240), [0, 0.00005, 0.0001]);
  assert.deepEqual(roomyTicks(axisOf("linear", 1e-4, false), 120), [0, 0.0001]);
  assert.deepEqual(roomyTicks(axisOf("linear", 2.7, false), 240), [0, 1, 2]);
  assert.deepEqual(roomyTicks(axisOf("log", 1e-2, false), 90), [0.0001, 0.01]);
});

test("numbers read well", () => {
  assert.deepEqual([0, 1234.5, 0.012345, -0.5].map(words), ["0", "1,230", "0.0123", "−0.5"]);
  assert.equal(words(1.26e-7), "1.3 · 10^−7");
  assert.equal(words(-1.26e-7), "−1.3 · 10^−7");
});

test("an uncertainty has two digits, and the value at least three", () => {
  assert.equal(withUncertainty(1.6423, 0.1678), "1.64 ± 0.17");
  assert.equal(withUncertainty(0.0001234, 0.5), "0.000123 ± 0.5");
  assert.equal(withUncertainty(-2.5, 0.25), "−2.5 ± 0.25");
  assert.equal(withUncertainty(3.14159, null), "3.14");
  assert.equal(withUncertainty(3.14159, 0), "3.14");
  assert.equal(withUncertainty(1234.56, 100), "1,235 ± 100");
});
