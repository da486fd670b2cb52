// Writes docs/mcp-tools.md from the definitions of the tools.
//
//   node scripts/tool-reference.mjs
//
// The definitions are TypeScript, so they are bundled into a temporary file first.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), "rlm-reference-"));
try {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const bundled = await rolldown({
    input: "scripts/tool-reference.ts",
    platform: "node",
    external: (id) => isBuiltin(id),
    transform: { target: "node20", define: { __RLM_VERSION__: JSON.stringify(version) } },
  });
  await bundled.write({ dir: folder, format: "esm", entryFileNames: "reference.mjs" });
  await bundled.close();
  const { toToolReference } = await import(join(folder, "reference.mjs"));
  writeFileSync("docs/mcp-tools.md", toToolReference());
} finally {
  rmSync(folder, { recursive: true });
}
