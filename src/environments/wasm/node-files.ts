// What Node needs of the machine to start in a sandbox, which shows the system's folders only. Version managers keep Node in the user's home.

import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const MAPS = "/proc/self/maps";
/** A file in one of these needs others there, by links. Homebrew keeps its packages in `Cellar`. */
const STORE = /^(?:\/nix\/store|\/gnu\/store|.*?(?=\/Cellar\/))/;

/** Its executable, and the folders of libraries that come with it. The fork server leaves out what every sandbox shows. */
export function nodeFiles(executable = process.execPath, maps = readMaps()): readonly string[] {
  const own = `${dirname(dirname(executable))}/`;
  const libraries = maps.match(/(?<= )\/.*\.so[.\d]*$/gm) ?? [];
  const folders = libraries.flatMap((path) => STORE.exec(path) ?? (path.startsWith(own) ? dirname(path) : []));
  return [...new Set([STORE.exec(executable)?.[0] ?? executable, ...folders])];
}

function readMaps(): string {
  return existsSync(MAPS) ? readFileSync(MAPS, "utf8") : "";
}
