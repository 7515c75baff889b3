/** Writes the client's wire types, src/kit/schemas.ts, from the server's OpenAPI description: node types.mjs DESCRIPTION */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const out = join(dirname(fileURLToPath(import.meta.url)), "src", "kit", "schemas.ts");
const banner = "/** Written by the build from the server's OpenAPI description; do not edit. */";

/** Adapts OpenAPI's dialect to the compiler, which would turn a title into a separate type and a maximum length into a union of tuples. */
function plain(key, value) {
  if (key === "title" && typeof value === "string") return undefined;
  if (value?.type !== "array") return value;
  const { prefixItems, minItems, maxItems, ...array } = value;
  return prefixItems ? { ...array, items: prefixItems, minItems, maxItems } : array;
}

const { components } = JSON.parse(await readFile(process.argv[2], "utf8"));
const $defs = JSON.parse(JSON.stringify(components.schemas).replaceAll("#/components/schemas/", "#/$defs/"), plain);
const types = await compile({ $defs }, "Description", {
  additionalProperties: false,
  bannerComment: banner,
  format: false,
  unreachableDefinitions: true,
});
await writeFile(out, types);
