// Bundles the page's program and style into the package, with the licences of what they contain.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const OUT = "../src/whorl/api/exploring/web";
const BUNDLED = ["@dagrejs/dagre", "@dagrejs/graphlib", "uplot"];

// tests/api/exploring/test_web.py computes the same hash, so that the package never has another program than the sources.
const hash = createHash("sha256");
for (const name of readdirSync("src").sort()) hash.update(readFileSync(`src/${name}`));
hash.update(readFileSync("package.json"));

const about = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
const list = BUNDLED.map((name) => `${name} ${about(name).version} (${about(name).license})`).join(", ");
const banner = `/* sources ${hash.digest("hex")}; contains ${list}: see LICENSES.txt */`;

await build({
  entryPoints: { explorer: "src/main.ts" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: banner },
  outdir: OUT,
});
await build({ entryPoints: { explorer: "src/style.css" }, bundle: true, minify: true, legalComments: "none", outdir: OUT });

const texts = BUNDLED.map((name) => {
  const file = readdirSync(`node_modules/${name}`).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${about(name).version}\n\n${readFileSync(`node_modules/${name}/${file}`, "utf8").trim()}\n`;
});
writeFileSync(`${OUT}/LICENSES.txt`, texts.join("\n----\n\n"));
