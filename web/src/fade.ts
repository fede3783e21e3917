/** One picture fades into the next on a canvas, unless the reader asked for less motion. */

const LASTS = 240; // milliseconds

export class Fade {
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");
  private frame = 0;

  /** `drawn` is called whenever the canvas has changed. */
  constructor(private readonly canvas: HTMLCanvasElement, private readonly drawn: () => void) {}

  /** What is on the canvas now, to fade from; null if nothing fades. */
  keep(): HTMLCanvasElement | null {
    return this.still.matches ? null : copyOf(this.canvas);
  }

  /** From what was kept to what is on the canvas now. */
  from(before: HTMLCanvasElement | null): void {
    const { canvas } = this;
    if (!before || before.width !== canvas.width || before.height !== canvas.height) return;
    const after = copyOf(canvas);
    const context = canvas.getContext("2d");
    if (!context) return;
    const start = performance.now();
    const step = (now: number) => {
      const part = Math.min(Math.max((now - start) / LASTS, 0), 1);
      mix(context, before, after, part);
      this.drawn();
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    step(start);
  }

  /** What is on the canvas is about to be painted anew. */
  stop(): void {
    cancelAnimationFrame(this.frame);
  }
}

function mix(context: CanvasRenderingContext2D, before: HTMLCanvasElement, after: HTMLCanvasElement, part: number): void {
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalCompositeOperation = "copy";
  context.globalAlpha = 1 - part;
  context.drawImage(before, 0, 0);
  context.globalCompositeOperation = "lighter";
  context.globalAlpha = part;
  context.drawImage(after, 0, 0);
  context.restore();
}

function copyOf(canvas: HTMLCanvasElement): HTMLCanvasElement {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  copy.getContext("2d")?.drawImage(canvas, 0, 0);
  return copy;
}
