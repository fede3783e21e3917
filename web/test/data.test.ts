import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { inflate, inflateJson, pointsOf, undoDifferences } from "../src/data";

/** What Python's side does: integers, differenced along both axes, folded, as two planes of bytes. */
function planes(integers: number[][]): Uint8Array {
  const [rows, columns] = [integers.length, integers[0].length];
  const at = (row: number, column: number) => (row < 0 || column < 0 ? 0 : integers[row][column]);
  const folded = integers.flatMap((line, row) =>
    line.map((value, column) => {
      const difference = ((value - at(row - 1, column) - at(row, column - 1) + at(row - 1, column - 1)) << 16) >> 16;
      return ((difference << 1) ^ (difference >> 15)) & 0xffff;
    }),
  );
  assert.equal(folded.length, rows * columns);
  return Uint8Array.from([...folded.map((value) => value & 255), ...folded.map((value) => value >> 8)]);
}

test("values come back, also where differences leave 16 bits", () => {
  const integers = [
    [0, 5, -32767, 32767],
    [32767, -32767, 32767, -32767],
    [1, 2, 3, -4],
  ];
  const found = undoDifferences(planes(integers), { unit: 2, step: 1e-4, rows: 3, columns: 4 });
  assert.deepEqual([...found], integers.flat().map((q) => Math.fround(2 * Math.sinh(1e-4 * q))));
});

test("damaged values are refused", () => {
  assert.throws(() => undoDifferences(new Uint8Array(7), { unit: 1, step: 1, rows: 2, columns: 2 }), /damaged/);
});

test("bytes and what is written in them are inflated", async () => {
  const packed = (text: string) => deflateSync(text).toString("base64");
  assert.deepEqual([...(await inflate(packed("ab")))], [97, 98]);
  assert.deepEqual(await inflateJson(packed('{"name": "Zürich"}')), { name: "Zürich" });
});

test("lines are steps of a thousandth, or finer", () => {
  assert.deepEqual(pointsOf([7000, 47000, 500, -1]), [[7, 47], [7.5, 46.999]]);
  assert.deepEqual(pointsOf([70000, 470000, 5000, -10], 10_000), [[7, 47], [7.5, 46.999]]);
});
