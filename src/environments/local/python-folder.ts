// Where the Python that belongs to this package lies: beside the bundle once built, at the top of the tree before.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function pythonFolder(): string {
  const bundled = fileURLToPath(new URL("./python", import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL("../../../python", import.meta.url));
}
