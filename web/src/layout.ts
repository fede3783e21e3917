/** How the parts are laid out, by the room that the map has, which need not be the window's. */

/** A column beside the map; everything below each other; or the least, for other pages to embed. */
export type Layout = "wide" | "narrow" | "embed";

const WIDE = 900; // pixels from which a column has room beside the map
const HIGH = 480; // below this, the map would have no room under a takeaway
const FRAME_HIGH = 600; // the same in a frame, around which another page has words of its own

export function layoutOf(width: number, height: number, { embed, framed }: { embed: boolean; framed: boolean }): Layout {
  const small = height < HIGH || (framed && width < WIDE && height < FRAME_HIGH);
  if (embed || small) return "embed";
  return width >= WIDE ? "wide" : "narrow";
}

/** Tells the layout now, and whenever it or the room changes. Returns how to stop that. */
export function watchLayout(root: HTMLElement, embed: boolean, changed: (layout: Layout) => void): () => void {
  const tell = () => {
    const { width, height } = root.getBoundingClientRect();
    if (width && height) changed(layoutOf(width, height, { embed, framed: window !== window.top }));
  };
  const observer = new ResizeObserver(tell);
  observer.observe(root);
  tell();
  return () => observer.disconnect();
}
