/** Unpacks the page's program, which is carried deflated, and runs it as a script that the page's policy knows. */
async function boot(): Promise<void> {
  const packed = document.getElementById("dpheatmap-code")?.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.body.append(script);
}

boot().catch(() => {
  const root = document.getElementById("dpheatmap");
  if (root) root.textContent = "This map needs a newer browser.";
});

export {};
