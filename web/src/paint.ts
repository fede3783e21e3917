/** The heat as a picture: one pixel for each of the map's. */
import { type Axis, position } from "./scale";

/** What is within the noise: a grey that is none of the scales' colours. */
const GREY = [138, 140, 146];

export interface Paint {
  values: Float32Array;
  axis: Axis;
  /** Colours from low to high, three bytes each. */
  colours: Uint8Array;
  /** Pixels that are 0 here are greyed out. */
  clear: Uint8Array | null;
  /** Whether cold pixels let through what lies below, up to the first third of the scale. */
  fade: boolean;
}

export function paint(pixels: Uint8ClampedArray, { values, axis, colours, clear, fade }: Paint): void {
  const last = colours.length / 3 - 1;
  for (let i = 0; i < values.length; i++) {
    const grey = clear !== null && clear[i] === 0;
    const at = position(axis, values[i]);
    const from = grey ? 0 : 3 * Math.round(last * at);
    const source = grey ? GREY : colours;
    pixels[4 * i] = source[from];
    pixels[4 * i + 1] = source[from + 1];
    pixels[4 * i + 2] = source[from + 2];
    pixels[4 * i + 3] = fade ? 255 * Math.min(1, 3 * (axis.low < 0 ? Math.abs(2 * at - 1) : at)) : 255;
  }
}
