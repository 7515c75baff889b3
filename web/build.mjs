/** Builds the browser client into the Python package: hashed assets, the pages that name them, and the notebook widget. */
import { copyFile, cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "dist");
const installed = process.env.TELLMORE_STATIC ?? join(here, "..", "src", "tellmore", "app", "static");

const scripts = ["annotate", "dashboard", "study"].map((page) => ({ in: join(here, "src", page, "main.ts"), out: page }));
const styles = { in: join(here, "src", "styles", "app.css"), out: "app" };

/** Maps each entry name ("annotate.js", "app.css") to the address of its hashed file. */
function addresses(metafile) {
  const found = new Map();
  for (const [path, output] of Object.entries(metafile.outputs)) {
    if (!output.entryPoint) continue;
    const file = basename(path);
    const extension = file.slice(file.lastIndexOf("."));
    found.set(file.replace(/-[A-Z0-9]{8}\.(js|css)$/, extension), `/assets/${relative(join(out, "assets"), path)}`);
  }
  return found;
}

async function writePages(found) {
  const pages = (await readdir(join(here, "pages"))).filter((name) => name.endsWith(".html"));
  for (const page of pages) {
    const source = await readFile(join(here, "pages", page), "utf8");
    const html = source.replace(/\{\{([a-z.]+)\}\}/g, (_, name) => {
      if (!found.has(name)) throw new Error(`pages/${page} names the unknown asset ${name}`);
      return found.get(name);
    });
    await writeFile(join(out, page), html);
  }
}

await rm(out, { recursive: true, force: true });
await mkdir(join(out, "assets"), { recursive: true });
const usual = { absWorkingDir: here, bundle: true, format: "esm", target: "es2022", minify: true, metafile: true, legalComments: "eof" };
const result = await build({
  ...usual,
  entryPoints: [...scripts, styles],
  outdir: join(out, "assets"),
  splitting: true,
  entryNames: "[name]-[hash]",
  chunkNames: "shared-[hash]",
});
await writePages(addresses(
  { outputs: Object.fromEntries(Object.entries(result.metafile.outputs).map(([path, output]) => [join(here, path), output])) },
));
// A notebook loads one module, so it contains its style sheet, for its own shadow tree inside the page.
const sheet = await build({ ...usual, entryPoints: [join(here, "src", "styles", "widget.css")], write: false });
const define = { STYLES: JSON.stringify(sheet.outputFiles[0].text) };
const widget = await build({ ...usual, entryPoints: [join(here, "src", "widget", "main.ts")], outfile: join(out, "widget.js"), define });
await copyFile(join(here, "pages", "icon.svg"), join(out, "assets", "icon.svg"));
// The previous build is replaced only after this one has succeeded.
await rm(installed, { recursive: true, force: true });
await cp(out, installed, { recursive: true });
const bytes = [result, widget].flatMap(({ metafile }) => Object.values(metafile.outputs)).reduce((sum, output) => sum + output.bytes, 0);
console.log(`built ${relative(process.cwd(), installed)}: ${Math.round(bytes / 1024)} KiB of assets`);
