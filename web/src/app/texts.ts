/** Every sentence of the app, from the file that the server reads, too. */
import texts from "../../../src/dpheatmap/app/texts.json";

export const t = texts.page;

/** A sentence with values in their places. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}

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
