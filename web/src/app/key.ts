/**
 * The page's key, which it was opened with and shows with every question. Cookies go to every server on this machine,
 * whatever its port; what a page stores is its own.
 */
const NAME = "dpheatmap-key";
const given = /^#key=([\w-]+)$/.exec(location.hash);
if (given) {
  localStorage.setItem(NAME, given[1]);
  history.replaceState(null, "", location.pathname);
}

/** The header that goes with a question. */
export const shown = (): [name: string, value: string] => ["X-Dpheatmap-Key", localStorage.getItem(NAME) ?? ""];
