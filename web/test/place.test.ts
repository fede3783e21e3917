import assert from "node:assert/strict";
import { test } from "node:test";
import type { MapData } from "../src/data";
import { geoJson } from "../src/download";
import { atFractions, atOwn, corners, edges, fractionsAt, kilometres, placeInWords, toLngLat, toSquare } from "../src/place";

const BOX = { kind: "bbox", place: [0.5, 0.25, 0.75, 0.5], bounds: [0, 0, 90, 66.5], columns: 4, rows: 2 } as MapData;
const IMAGE = { kind: "image", place: [0.4, 0.45, 0.6, 0.55], bounds: [0, 0, 64, 32], columns: 4, rows: 2 } as MapData;

test("Mercator goes there and back", () => {
  assert.deepEqual(toSquare({ lng: 0, lat: 0 }), { x: 0.5, y: 0.5 });
  for (const [x, y] of [[0.1, 0.2], [0.9, 0.01], [0.5, 0.99]]) {
    const back = toSquare(toLngLat(x, y));
    assert.ok(Math.abs(back.x - x) < 1e-12 && Math.abs(back.y - y) < 1e-9);
  }
  assert.ok(Math.abs(toLngLat(0, 0).lat - 85.0511287798) < 1e-9);
});

test("the first pixel is the upper left one", () => {
  const [upperLeft, , lowerRight] = corners(BOX);
  assert.deepEqual(upperLeft[0], 0);
  assert.ok(upperLeft[1] > lowerRight[1]);
  const [first] = corners(BOX, { x0: 0.5, y0: 0, x1: 1, y1: 1 });
  assert.deepEqual(first, [45, upperLeft[1]]);
  const near = fractionsAt(BOX, { lng: 0, lat: upperLeft[1] });
  assert.ok(Math.abs(near.x) < 1e-12 && Math.abs(near.y) < 1e-12);
  assert.ok(fractionsAt(BOX, { lng: -1, lat: 10 }).x < 0);
  assert.ok(fractionsAt(BOX, { lng: 10, lat: 67 }).y < 0);
});

test("coordinates of a picture find their point, and those on the ground are one", () => {
  assert.deepEqual(atOwn(BOX, 7, 50), { lng: 7, lat: 50 });
  assert.deepEqual(atOwn(IMAGE, 32, 16), atFractions(IMAGE, 0.5, 0.5));
});

test("a degree on the equator is 111 kilometres", () => {
  assert.equal(kilometres({ lng: 0, lat: 0 }, { lng: 1, lat: 0 }).toFixed(1), "111.2");
  assert.equal(kilometres({ lng: 10, lat: 60 }, { lng: 11, lat: 60 }).toFixed(1), "55.6");
});

test("places in words are in the domain's own coordinates", () => {
  assert.deepEqual(edges(IMAGE, 1, 3, 1, 1), [48, 16, 64, 32]);
  assert.equal(placeInWords(IMAGE, atFractions(IMAGE, 0.875, 0.75)), "x 56, y 24");
  assert.equal(placeInWords(BOX, { lng: -11.26, lat: 55.04 }), "55.0° N, 11.3° W");
});

test("blocks in GeoJSON tile the place and keep the mean", () => {
  const data = { ...IMAGE, columns: 300, rows: 150, signed: false, clarity: {}, legend: { title: "u" }, title: "t", facts: [], warnings: [] } as unknown as MapData;
  const values = Float32Array.from({ length: 300 * 150 }, (_, i) => i % 7);
  const read = () => ({ value: 2, low: 1, high: 6, clarity: 0.5 });
  const found = geoJson(data, values, { read, holds: () => true });
  assert.equal(found.features.length, 100 * 50);
  const [first] = found.features;
  assert.deepEqual((first.geometry as GeoJSON.Polygon).coordinates[0][0], [0, 0]);
  const mean = found.features.reduce((sum, { properties }) => sum + properties?.value, 0) / found.features.length;
  assert.ok(Math.abs(mean - values.reduce((sum, value) => sum + value, 0) / values.length) < 1e-4);
  const { value, low, high, clear } = first.properties ?? {};
  assert.ok(Math.abs(low - 0.5 * value) < 1e-5 && Math.abs(high - 3 * value) < 1e-4); // ends are factors of the value
  assert.equal(clear, false);
});
