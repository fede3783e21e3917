// Builds what the package carries, byte for byte the same each time: node build.mjs [FOLDER]
// The map goes into FOLDER/render/web/static, the app into FOLDER/app/static.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? "../src/dpheatmap";
const target = join(folder, "render/web/static");
const app = join(folder, "app/static");
const common = { bundle: true, minify: true, write: false, format: "iife", target: "es2022", charset: "utf8", legalComments: "none", loader: { ".woff2": "dataurl" } };
const LIBRARY = "dpheatmapLibrary";

// MapLibre's worker is a module; as a classic script it also starts from a page opened from disk.
const worker = {
  name: "worker",
  setup(build_) {
    build_.onResolve({ filter: /^worker:maplibre$/ }, () => ({ path: "maplibre", namespace: "worker" }));
    build_.onLoad({ filter: /.*/, namespace: "worker" }, async () => {
      const made = await build({ ...common, entryPoints: ["node_modules/maplibre-gl/dist/maplibre-gl-worker.mjs"], logOverride: { "empty-import-meta": "silent" } });
      return { contents: made.outputFiles[0].text, loader: "text" };
    });
  },
};

// Every other script finds MapLibre where maplibre.js has put it.
const shared = {
  name: "shared",
  setup(build_) {
    build_.onResolve({ filter: /\/maplibre$/ }, () => ({ path: "maplibre", namespace: "shared" }));
    build_.onLoad({ filter: /.*/, namespace: "shared" }, () => ({ contents: `module.exports = globalThis.${LIBRARY}` }));
  },
};

const entries = [
  ["maplibre.ts", "maplibre", target, "iife"],
  ["page.ts", "map", target, "iife"],
  ["boot.ts", "boot", target, "iife"],
  ["notebook.ts", "notebook", target, "iife"],
  ["widget.ts", "widget", target, "esm"],
  ["app/main.ts", "app", app, "esm"],
  ["app/view.ts", "view", app, "esm"],
];
for (const [source, name, into, format] of entries) {
  mkdirSync(into, { recursive: true });
  const made = await build({ ...common, format, entryPoints: [`src/${source}`], outfile: `${name}.js`, plugins: name === "maplibre" ? [worker] : [shared], globalName: name === "maplibre" ? LIBRARY : undefined, logOverride: { "empty-import-meta": "silent" } });
  for (const file of made.outputFiles) writeFileSync(join(into, file.path.split("/").pop()), file.text);
}
for (const name of ["index.html", "icon.svg"]) copyFileSync(`src/app/${name}`, join(app, name));
writeFileSync(join(target, "THIRD-PARTY.txt"), licences(["maplibre-gl", "@fontsource/inter"]));

// The licence of everything that is bundled, found by following what each package depends on.
function licences(names) {
  const seen = new Set();
  const queue = [...names];
  const parts = [];
  while (queue.length) {
    const name = queue.shift();
    if (seen.has(name) || name.startsWith("@types/")) continue;
    seen.add(name);
    const folder = [`node_modules/maplibre-gl/node_modules/${name}`, `node_modules/${name}`].find(existsSync);
    if (!folder) continue;
    const { version, license, dependencies } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    queue.push(...Object.keys(dependencies ?? {}));
    const file = readdirSync(folder).sort().find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(`${folder}/${file}`, "utf8").trim() : "(the package carries no text of its own)";
    parts.push(`${name} ${version}, ${license}\n\n${text.replace(/\r/g, "")}\n`);
  }
  return `The interactive map is built from these packages.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}
