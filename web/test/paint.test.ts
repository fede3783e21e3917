import assert from "node:assert/strict";
import { test } from "node:test";
import type { Grid } from "../src/data";
import { refined, valueAt } from "../src/grid";
import { framed, surenessOf } from "../src/heat";
import { cover, gradientAt, paint, type Paint, rgbOf } from "../src/paint";
import { WHOLE } from "../src/place";

const grid = (rows: number[][]): Grid => ({ values: Float32Array.from(rows.flat()), rows: rows.length, columns: rows[0].length });
const LOOK: Paint = {
  values: grid([[0, 1, 2, 4]]),
  smooth: false,
  edges: [1, 3],
  bands: [[10, 20, 30], [40, 50, 60]],
  fewer: [],
  opacity: [0.5, 1],
  gradient: null,
  clarity: null,
  hatch: null,
};

/** What is painted, each pixel as red, green, blue and opacity. */
function painted(look: Partial<Paint>, width: number, height = 1): number[][] {
  const image = { width, height, data: new Uint8ClampedArray(4 * width * height) } as ImageData;
  paint(image, WHOLE, { ...LOOK, ...look });
  return Array.from({ length: width * height }, (_, i) => [...image.data.slice(4 * i, 4 * i + 4)]);
}

test("bands have their colours, and what is below them is bare", () => {
  assert.deepEqual(painted({}, 4), [[0, 0, 0, 0], [10, 20, 30, 128], [10, 20, 30, 128], [40, 50, 60, 255]]);
});

test("cells are as sharp as they are, and smooth heat has soft edges", () => {
  const cells = painted({ values: grid([[0, 8]]) }, 8);
  assert.deepEqual(cells.map((pixel) => pixel[3]), [0, 0, 0, 0, 255, 255, 255, 255]);
  const slope = painted({ values: grid([[0, 2]]), smooth: true, edges: [1], bands: [[9, 9, 9]], opacity: [1] }, 401);
  const soft = slope.map((pixel) => pixel[3]).filter((opacity) => opacity > 0 && opacity < 255);
  assert.equal(soft.length, 1);
  assert.equal(slope[200][3], 128); // in the middle, where the edge is
});

test("differences have colours of their own below zero", () => {
  const look = { values: grid([[-4, -1, 0.5, 4]]), fewer: [[1, 1, 1], [2, 2, 2]] as [number, number, number][] };
  assert.deepEqual(painted(look, 4), [[2, 2, 2, 255], [1, 1, 1, 128], [0, 0, 0, 0], [40, 50, 60, 255]]);
});

test("what can't be told is bare, and what is rough is hatched", () => {
  const sure = (clarity: number) => painted({ values: grid([[4]]), clarity: grid([[clarity]]), hatch: 4 }, 200, 1).map((pixel) => pixel[3]);
  assert.ok(sure(0.9).every((opacity) => opacity === 0));
  assert.ok(sure(2.5).every((opacity) => opacity === 255));
  const rough = sure(1.5);
  assert.ok(rough.includes(255) && rough.includes(20)); // 1 - 0.92, and all of it
  const bare = rough.filter((opacity) => opacity < 128).length / rough.length;
  assert.ok(Math.abs(bare - 2.1 / 5) < 0.05);
});

test("a gradient fades in below the first edge", () => {
  const found = painted({ values: grid([[0.7, 0.9, 1, 8]]), gradient: 8 }, 4);
  assert.deepEqual(found.map((pixel) => pixel[3]), [0, 64, 128, 255]);
  assert.deepEqual(found[3].slice(0, 3), [40, 50, 60]);
  assert.deepEqual([1, 10, 100, 1000].map((value) => gradientAt(value, 1, 100)), [0, 0.5, 1, 1]);
  assert.equal(gradientAt(1, 1, 1), 1);
});

test("a pixel is covered by as much as lies above the edge", () => {
  assert.deepEqual([-1, -0.5, 0, 0.25, 0.5, 3].map((above) => cover(above, 1)), [0, 0, 0.5, 0.75, 1, 1]);
});

test("values lie straight between the middles of pixels", () => {
  const two = grid([[0, 2], [4, 6]]);
  assert.equal(valueAt(two, 0, 0), 0);
  assert.equal(valueAt(two, 0.5, 0.5), 3);
  assert.equal(valueAt(two, 1, 0.5), 4);
  assert.equal(valueAt(two, 0.6, 0.2, false), 2);
  assert.equal(valueAt(grid([[5]]), 0.3, 0.9), 5);
});

test("a refined grid goes through what is known, and straight where that is", () => {
  const fine = refined(grid([[1, 2, 3, 4], [1, 2, 3, 4], [2, 3, 4, 5]]));
  assert.equal(fine.columns % 4, 0);
  assert.ok(fine.columns >= 512 && fine.rows === (3 * fine.columns) / 4);
  for (const [x, y, wanted] of [[0.375, 0.5, 2], [0.5, 1 / 6, 2.5], [0.625, 5 / 6, 4]]) {
    assert.ok(Math.abs(valueAt(fine, x, y) - wanted) < 0.01, `${valueAt(fine, x, y)} at ${x}, ${y}`);
  }
});

test("the whole heat is painted while it fits, then what is seen and a margin", () => {
  const part = { x0: -0.2, y0: 0, x1: 1.2, y1: 1 };
  assert.deepEqual(framed({ part, wide: 600, high: 800 }, 2), { part: WHOLE, width: 1200, height: 1600, pixel: 2 });
  const near = framed({ part: { x0: 0.4, y0: 0.4, x1: 0.5, y1: 0.5 }, wide: 9000, high: 9000 }, 1);
  assert.ok(Math.abs(near.part.x0 - 0.35) < 1e-9 && Math.abs(near.part.x1 - 0.55) < 1e-9);
  assert.deepEqual([near.width, near.height, near.pixel], [1800, 1800, 1]);
  const large = framed({ part: { x0: 0, y0: 0, x1: 0.5, y1: 0.5 }, wide: 9000, high: 4500 }, 1);
  assert.equal(large.width, 2048);
  assert.deepEqual(framed({ part: { x0: 2, y0: 0, x1: 3, y1: 1 }, wide: 9000, high: 9000 }, 1).part, WHOLE);
});

test("colours are read from their digits", () => {
  assert.deepEqual(rgbOf("#F8DE96"), [248, 222, 150]);
});

test("how sure is how many times half its range a value is", () => {
  const ends = { low: grid([[0.9, 0.9, 0.5, 0.5]]), high: grid([[1.1, 1.1, 1.5, 1.5]]), clarity: null };
  const found = surenessOf({ signed: false, smooth: true }, { values: grid([[7, 7]]), ...ends });
  assert.ok(found && Math.abs(valueAt(found, 0.01, 0.5) - 10) < 0.5 && Math.abs(valueAt(found, 0.99, 0.5) - 2) < 0.5);
  const change = surenessOf({ signed: true, smooth: false }, { values: grid([[-4, 4]]), low: grid([[-5, 3]]), high: grid([[-3, 5]]), clarity: null });
  assert.ok(change && Math.abs(valueAt(change, 0.5, 0.5) - 4) < 1e-6);
  assert.equal(surenessOf({ signed: false, smooth: true }, { values: grid([[7]]), low: null, high: null, clarity: null }), null);
});
