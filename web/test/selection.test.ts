import assert from "node:assert/strict";
import { test } from "node:test";
import type { MapData } from "../src/data";
import { atFractions, toLngLat } from "../src/place";
import { boxOf } from "../src/selection";

const north = toLngLat(0, 0.25).lat;
const BOX = { kind: "bbox", place: [0.5, 0.25, 0.75, 0.5], bounds: [0, 0, 90, north], columns: 4, rows: 2 } as MapData;
const IMAGE = { kind: "image", place: [0.4, 0.45, 0.6, 0.55], bounds: [0, 0, 64, 32], columns: 4, rows: 2 } as MapData;
const PACIFIC = { ...BOX, place: [0.9, 0.25, 1.1, 0.5], bounds: [144, 0, 216, north] } as MapData;

const near = (found: number[], expected: number[]) => found.forEach((value, k) => assert.ok(Math.abs(value - expected[k]) < 1e-9, `${found}`));

test("a box is the same whichever corner it is drawn from", () => {
  const [a, b] = [{ lng: 10, lat: 50 }, { lng: 30, lat: 20 }];
  near(boxOf(BOX, a, b), [10, 20, 30, 50]);
  near(boxOf(BOX, b, a), [10, 20, 30, 50]);
});

test("a box ends where the place ends", () => {
  near(boxOf(BOX, { lng: -20, lat: 80 }, { lng: 100, lat: -10 }), [0, 0, 90, north]);
});

test("a box of an image is in pixels, its top first", () => {
  near(boxOf(IMAGE, atFractions(IMAGE, 0.25, 0.75), atFractions(IMAGE, 0.5, 0.25)), [16, 8, 32, 24]);
});

test("a box across the antimeridian has longitudes beyond 180", () => {
  near(boxOf(PACIFIC, { lng: 170, lat: 10 }, { lng: -170, lat: 20 }), [170, 10, 190, 20]);
});
