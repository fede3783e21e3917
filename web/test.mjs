// Bundles the tests, which are TypeScript, and runs them: node test.mjs
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "dpheatmap-web-"));
const tests = readdirSync("test").map((name) => join("test", name));
await build({ entryPoints: tests, outdir: folder, outExtension: { ".js": ".mjs" }, bundle: true, platform: "node", format: "esm", logLevel: "error" });
const files = readdirSync(folder).map((name) => join(folder, name));
const { status } = spawnSync(process.execPath, ["--test", "--test-reporter=dot", ...files], { stdio: "inherit" });
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
