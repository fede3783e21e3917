/** Letters on a canvas. */

/** The lines that a text takes in a width, in the context's font. */
export function wrapped(context: Pick<CanvasRenderingContext2D, "measureText">, text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && context.measureText(longer).width > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** The height of a line of a font such as "400 15px Inter". */
export function lineHeight(font: string): number {
  return 1.45 * Number(/([\d.]+)px/.exec(font)?.[1] ?? 15);
}
