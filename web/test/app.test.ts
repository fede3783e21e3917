import assert from "node:assert/strict";
import { test } from "node:test";
import { value } from "../src/app/numbers";
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
