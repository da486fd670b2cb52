// The standard library of a project. A model adds to it over MCP, so what it adds in one project must not run in another.

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { dataPath } from "../../util/data-folder.ts";

const MAX_NAME = 40;
const DIGEST_LENGTH = 32;

/** Its file, in the data folder: named for the folder, and by a digest of its real path. It need not exist. */
export function projectStdlib(folder: string): string {
  const real = realpathSync(folder);
  const digest = createHash("sha256").update(real).digest("hex").slice(0, DIGEST_LENGTH);
  const name = basename(real)
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, MAX_NAME);
  return dataPath(join("stdlib", `${name}-${digest}.py`));
}
