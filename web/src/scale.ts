/** From values to colours, and to the round numbers beside them. */

export type Kind = "linear" | "log";

/** How values are spread over a colour scale: from `low` to `high`, evenly or by ratios. */
export interface Axis {
  kind: Kind;
  low: number;
  high: number;
}

const DECADES = 3;

/** The axis of a layer; values about zero get one that is even on both sides. */
export function axisOf(kind: Kind, top: number, signed: boolean): Axis {
  if (signed) return { kind: "linear", low: -top, high: top };
  return kind === "log" ? { kind, low: top / 10 ** DECADES, high: top } : { kind, low: 0, high: top };
}

/** Where a value lies on the axis: 0 at its low end, 1 at its high end, beyond them the same as at them. */
export function position(axis: Axis, value: number): number {
  if (!(axis.high > axis.low)) return 0;
  const part =
    axis.kind === "log"
      ? Math.log(Math.max(value, Number.MIN_VALUE) / axis.low) / Math.log(axis.high / axis.low)
      : (value - axis.low) / (axis.high - axis.low);
  return Math.min(Math.max(part, 0), 1);
}

const LETTER = 7.5; // pixels, in the legend's letters

/**
 * Round values on an axis of a length in pixels: as many, up to five, as can stand beside each other.
 *
 * Labels stay on the axis: the one at its low end starts there, the one at its high end ends there.
 */
export function roomyTicks(axis: Axis, length: number): number[] {
  for (let most = 5; most > 2; most--) {
    const values = ticks(axis, most);
    let end = -Infinity;
    const fits = values.map((value) => {
      const [at, width] = [position(axis, value), LETTER * (words(value).length + 1)];
      const start = (length - width) * at;
      const free = start >= end;
      end = start + width;
      return free;
    });
    if (fits.every(Boolean)) return values;
  }
  return ticks(axis, 2);
}

/** Round values on the axis, at most so many. */
export function ticks(axis: Axis, most: number): number[] {
  if (!(axis.high > axis.low)) return [axis.low];
  if (axis.kind === "log") return decades(axis, most);
  const span = axis.high - axis.low;
  for (let power = Math.floor(Math.log10(span)) - 2; ; power++) {
    for (const digit of [1, 2, 5]) {
      const step = digit * 10 ** power;
      const first = Math.ceil(axis.low / step - 1e-9);
      const last = Math.floor(axis.high / step + 1e-9);
      if (last - first < most) {
        return Array.from({ length: last - first + 1 }, (_, i) => round((first + i) * step));
      }
    }
  }
}

function decades(axis: Axis, most: number): number[] {
  const first = Math.ceil(Math.log10(axis.low) - 1e-9);
  const last = Math.floor(Math.log10(axis.high) + 1e-9);
  const step = Math.ceil((last - first + 1) / most);
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => round(10 ** (last - i * step))).reverse();
}

function round(value: number): number {
  return Number(value.toPrecision(12));
}

const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A number to three digits; very small ones with their power of ten. */
export function words(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 1e-5) return value.toExponential(1).replace("e-", " · 10^−").replace("-", "−");
  return SHORT.format(value).replace("-", "−");
}

/** A value with its standard deviation, which gets two digits, and the value as many decimals. */
export function withUncertainty(value: number, std: number | null): string {
  if (std === null || !(std > 0)) return words(value);
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(std)), 0), 12);
  const three = Math.max(decimals, value === 0 ? 0 : Math.min(2 - Math.floor(Math.log10(Math.abs(value))), 12));
  const write = (x: number, digits: number) =>
    x.toLocaleString("en", { minimumFractionDigits: 0, maximumFractionDigits: digits }).replace("-", "−");
  return `${write(value, three)} ± ${write(std, decimals)}`;
}
