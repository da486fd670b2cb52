// The entries of the package: what package.json exports, where its source is, and what a browser can load.

import { existsSync, readFileSync } from "node:fs";

const BROWSER = new Set(["./client", "./protocol"]);
const { name: packageName, exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** `name` as users write it, `output` in dist/, `types` in dist/types/, `source` in src/. */
export const ENTRIES = Object.entries(exports)
  .filter(([, target]) => target.types !== undefined)
  .map(([path, target]) => ({
    name: packageName + path.slice(1),
    output: target.default.replace("./dist/", ""),
    types: target.types.replace("./dist/types/", ""),
    source: target.types.replace("./dist/types/", "src/").replace(".d.ts", ".ts"),
    isForBrowsers: BROWSER.has(path),
  }))
  .filter(({ source }) => existsSync(new URL(`../${source}`, import.meta.url)));
