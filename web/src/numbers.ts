/** Numbers as people write them: "1,000", "83 to 88", "−5". */

const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A number to three digits; very small ones with their power of ten. */
export function words(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 1e-5) return value.toExponential(1).replace("e-", " · 10^−").replace("-", "−");
  return minus(SHORT.format(value));
}

/** A value that stands alone: a whole number, or two digits below 10. */
export function single(value: number, signed = false): string {
  const digits = Math.abs(value) >= 9.5 ? 0 : Math.max(0, 1 - Math.floor(Math.log10(Math.max(Math.abs(value), 1e-9))));
  return written(value, Math.min(digits, 4), signed);
}

/** The least whole number from 1 on that is not below a value, which a page knows to a thousandth. */
export function upTo(value: number): string {
  return written(Math.max(1, Math.ceil(0.999 * value)), 0, false);
}

/**
 * Both ends of a range: whole numbers, rounded outwards if they would be equal, and if they still are, with one decimal
 * below 10.
 */
export function range(low: number, high: number, signed = false): [low: string, high: string] {
  const tidy = (round: (value: number) => number) => [round(low), round(high)];
  let [from, to] = tidy(Math.round);
  let digits = 0;
  if (from === to) [from, to] = [Math.floor(low), Math.ceil(high)];
  if (from === to && Math.abs(to) < 10) {
    digits = 1;
    [from, to] = [Math.floor(10 * low) / 10, Math.ceil(10 * high) / 10];
  }
  return [written(from, digits, signed), written(to, digits, signed)];
}

/** A template with its places filled in. */
export function fill(template: string, parts: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole);
}

function written(value: number, decimals: number, signed: boolean): string {
  const text = minus(value.toLocaleString("en", { maximumFractionDigits: decimals }).replace(/^-0$/, "0"));
  return signed && value > 0 ? `+${text}` : text;
}

function minus(text: string): string {
  return text.replace("-", "−");
}
