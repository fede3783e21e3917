import assert from "node:assert/strict";
import { test } from "node:test";
import type { MapData } from "../src/data";
import { geoJson } from "../src/download";
import { paint } from "../src/paint";
import { corners, edges, pixelAt, placeInWords, toLngLat, toSquare } from "../src/place";
import { axisOf } from "../src/scale";

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
  assert.deepEqual(pixelAt(BOX, { lng: 1, lat: 66 }), { row: 0, column: 0 });
  assert.deepEqual(pixelAt(BOX, { lng: 89, lat: 1 }), { row: 1, column: 3 });
  assert.equal(pixelAt(BOX, { lng: -1, lat: 10 }), null);
  assert.equal(pixelAt(BOX, { lng: 10, lat: 67 }), null);
});

test("places in words are in the domain's own coordinates", () => {
  assert.deepEqual(edges(IMAGE, 1, 3, 1, 1), [48, 16, 64, 32]);
  assert.equal(placeInWords(IMAGE, 1, 3), "x 56, y 24");
  assert.match(placeInWords(BOX, 0, 0), /^5\d\.\d° N, 11\.\d° E$/);
});

test("blocks in GeoJSON tile the place and keep the mean", () => {
  const data = { ...IMAGE, columns: 300, rows: 150, unit: "u", title: "t", facts: [], warnings: [] } as unknown as MapData;
  const values = Float32Array.from({ length: 300 * 150 }, (_, i) => i % 7);
  const found = geoJson(data, values, values);
  assert.equal(found.features.length, 100 * 50);
  const [first] = found.features;
  assert.deepEqual((first.geometry as GeoJSON.Polygon).coordinates[0][0], [0, 0]);
  const mean = found.features.reduce((sum, { properties }) => sum + properties?.value, 0) / found.features.length;
  assert.ok(Math.abs(mean - values.reduce((sum, value) => sum + value, 0) / values.length) < 1e-4);
  assert.equal(first.properties?.std_at_most, first.properties?.value);
});

test("pixels get the colours of their values, grey where they are noise", () => {
  const colours = Uint8Array.from([0, 0, 0, 10, 20, 30, 40, 50, 60]);
  const pixels = new Uint8ClampedArray(16);
  const values = Float32Array.from([0, 1, 2, 2]);
  const axis = axisOf("linear", 2, false);
  paint(pixels, { values, axis, colours, clear: Uint8Array.from([1, 1, 1, 0]), fade: false });
  assert.deepEqual([...pixels.slice(0, 12)], [0, 0, 0, 255, 10, 20, 30, 255, 40, 50, 60, 255]);
  assert.ok(![0, 20, 50].includes(pixels[13]));
  paint(pixels, { values, axis, colours, clear: null, fade: true });
  assert.deepEqual([3, 7, 11].map((i) => pixels[i]), [0, 255, 255]);
});
