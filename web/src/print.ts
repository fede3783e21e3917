/** Before and after the page is printed, whoever asks for it. Returns how to stop listening. */
export function onPrint(before: () => void, after: () => void): () => void {
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return () => {
    window.removeEventListener("beforeprint", before);
    window.removeEventListener("afterprint", after);
  };
}
