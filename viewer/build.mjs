// Bundles the page's script: viewer/src and three -> crates/farpoint-cli/assets/view.js.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const output = process.argv[2] ?? "../crates/farpoint-cli/assets/view.js";
const bundled = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  charset: "ascii",
  write: false,
});
const licence = await readFile("node_modules/three/LICENSE", "utf8");
const text = bundled.outputFiles[0].text;
// The bundle stands between <script> tags.
if (/<\/script|<!--/i.test(text)) throw new Error("the bundle holds text that would end its script tag");
const note = `/*\nThis script contains three.js (https://threejs.org):\n\n${licence.trim()}\n*/\n`;
await writeFile(output, note + text);
