// Builds the page into dist/web, which `rlm serve` serves at `/`. `npm run dev` serves it with hot reload instead.

import { readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin, type UserConfig } from "vite";
import { runViewer } from "./run-viewer-plugin.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** CodeMirror's styles as a constructed sheet, which the policy of the page allows, unlike a style element. */
const constructedStyles: Plugin = {
  name: "constructed-styles",
  apply: "build",
  transform(code, id) {
    if (!/\/node_modules\/style-mod\//.test(id)) return undefined;
    const condition = "!root.head && root.adoptedStyleSheets";
    if (!code.includes(condition)) throw new Error(`style-mod has changed: it does not contain '${condition}'`);
    return code.replace(condition, "root.adoptedStyleSheets");
  },
};

/** What the page and the viewer of exported runs have in common. */
const shared: UserConfig = {
  resolve: {
    alias: [
      {
        find: /^rlm-runtime\/(client|protocol)$/,
        replacement: fileURLToPath(new URL("../src/$1/index.ts", import.meta.url)),
      },
      {
        // Alone, since all of the protocol would bring its schemas with it.
        find: "rlm-runtime/run-outline",
        replacement: fileURLToPath(new URL("../src/protocol/run-outline/outline-builder.ts", import.meta.url)),
      },
    ],
  },
  cacheDir: "../node_modules/.cache/vite",
  // The client is beside this folder, and node_modules may be a link.
  server: { fs: { allow: ["..", dirname(realpathSync(new URL("../node_modules", import.meta.url)))] } },
  define: { __RLM_VERSION__: JSON.stringify(version) },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
};

export default defineConfig({
  ...shared,
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  plugins: [constructedStyles, runViewer(shared)],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
