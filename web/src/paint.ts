/** The heat as a picture: one pixel for each of the map's. */
import { type Axis, position } from "./scale";

export interface Paint {
  values: Float32Array;
  axis: Axis;
  /** Colours from low to high, three bytes each. */
  colours: Uint8Array;
  /** Pixels that are 0 here are within the noise: grey, as light as their colour would have been. */
  clear: Uint8Array | null;
  /** Whether these are left out instead. */
  leftOut: boolean;
  /** Whether cold pixels let through what lies below, up to the first third of the scale. */
  fade: boolean;
}

export function paint(pixels: Uint8ClampedArray, { values, axis, colours, clear, leftOut, fade }: Paint): void {
  const last = colours.length / 3 - 1;
  const greys = clear ? greysOf(colours) : colours;
  for (let i = 0; i < values.length; i++) {
    const grey = clear !== null && clear[i] === 0;
    const at = position(axis, values[i]);
    const from = 3 * Math.round(last * at);
    const source = grey ? greys : colours;
    pixels[4 * i] = source[from];
    pixels[4 * i + 1] = source[from + 1];
    pixels[4 * i + 2] = source[from + 2];
    const shown = fade ? Math.min(1, 3 * (axis.low < 0 ? Math.abs(2 * at - 1) : at)) : 1;
    pixels[4 * i + 3] = grey && leftOut ? 0 : 255 * shown;
  }
}

/** Greys as light as colours: with the same L in OKLab, as `greys` in Python makes them. */
export function greysOf(colours: Uint8Array): Uint8Array {
  const greys = new Uint8Array(colours.length);
  for (let i = 0; i < colours.length; i += 3) {
    const [red, green, blue] = [0, 1, 2].map((k) => linear(colours[i + k] / 255));
    const cones = [
      0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue,
      0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue,
      0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue,
    ].map(Math.cbrt);
    const lightness = 0.2104542553 * cones[0] + 0.793617785 * cones[1] - 0.0040720468 * cones[2];
    greys.fill(Math.round(255 * gamma(lightness ** 3)), i, i + 3);
  }
  return greys;
}

/** Whether a scale is itself one of greys. */
export function isColourless(colours: Uint8Array): boolean {
  return colours.every((part, i) => Math.abs(part - colours[i - (i % 3)]) <= 1);
}

function linear(part: number): number {
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

function gamma(part: number): number {
  return part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055;
}
