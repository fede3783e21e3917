/** Every sentence of the app, from the file that the server reads, too. */
import texts from "../../../src/dpheatmap/app/texts.json";

export const t = texts.page;

/** A sentence with values in their places. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => isolated(String(values[name] ?? "")));
}

const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A name in a script that runs to the left is kept from pulling the numbers after it to its other side. */
export const isolated = (name: string): string => (LEFTWARD.test(name) ? `\u2068${name}\u2069` : name);

const COUNT = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const count = (value: number): string => COUNT.format(value);
export const short = (value: number): string => SHORT.format(value);
export const percent = (part: number): string => `${SHORT.format(100 * part)}\u00a0%`;

/** A moment, as people write it where they are. */
export function moment(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
