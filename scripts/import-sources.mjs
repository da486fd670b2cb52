// Imports TypeScript modules of src/ into a script, as one bundle, so that they share their schemas.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

/** `names` such as "protocol/events". The order of the modules is that of the names. zod is the one of node_modules. */
export async function importSources(names) {
  mkdirSync("node_modules/.cache", { recursive: true });
  const folder = mkdtempSync(resolve("node_modules/.cache/rlm-sources-"));
  try {
    const bundled = await rolldown({
      input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
      platform: "node",
      external: (id) => id === "zod" || isBuiltin(id),
      preserveEntrySignatures: "strict",
    });
    await bundled.write({
      dir: folder,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    });
    await bundled.close();
    return await Promise.all(names.map((name) => import(join(folder, `${name}.mjs`))));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
