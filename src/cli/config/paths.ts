// `rlm config path`: where the configuration and the data are.

import { findProjectFile, isFile, userFilePath } from "../../config/config-file.ts";
import { currentFolder } from "../../util/system/current-folder.ts";
import { dataPath } from "../../util/data-folder.ts";
import { homeFolder } from "../../util/home-folder.ts";
import { EXIT } from "../exit-code.ts";

export function printPaths({ json }: { readonly json?: true }): number {
  const env = process.env;
  const paths = { cwd: currentFolder(), home: env["HOME"] || homeFolder(), env };
  const project = findProjectFile(paths) ?? null;
  const user = userFilePath(paths);
  const data = dataPath("");
  if (json) process.stdout.write(`${JSON.stringify({ project, user, data })}\n`);
  else {
    const lines = [
      `project  ${project ?? "none: there is no rlm.toml here or above"}`,
      `user     ${user}${isFile(user) ? "" : " (does not exist)"}`,
      `data     ${data}`,
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  return EXIT.ok;
}
