// `rlm init`: writes an rlm.toml to start from.

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { FILE_NAME } from "../../config/config-file.ts";
import { TEMPLATE } from "../../config/template.ts";
import { describeWriteProblem, isFolder } from "../../util/files/file-problem.ts";
import { EXIT } from "../exit-code.ts";
import { UsageError } from "../options/usage-error.ts";

export function init({ force }: { readonly force?: true }): number {
  try {
    writeFileSync(FILE_NAME, TEMPLATE, { flag: force ? "w" : "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && !isFolder(FILE_NAME))
      throw new UsageError(`${FILE_NAME} is there already, and was not touched. --force replaces it`);
    throw new UsageError(`cannot write ${resolve(FILE_NAME)}: ${describeWriteProblem(FILE_NAME, error)}`);
  }
  process.stdout.write(NEXT);
  return EXIT.ok;
}

const NEXT = `Wrote ${FILE_NAME}. Next:
  1. choose a model in it, or set RLM_MODEL
  2. set OPENAI_API_KEY or ANTHROPIC_API_KEY, or write it into .env (and keep that out of git)
  3. rlm run "What is this about?" --context README.md
Without a key: rlm run --demo
`;
