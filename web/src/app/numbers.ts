/** A number as the server writes it: 0.5 or 1/3. */
export function value(text: string): number {
  const [above, below] = text.split("/").map(Number);
  return below === undefined ? above : above / below;
}
