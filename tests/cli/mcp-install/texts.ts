// Texts for the tests of both editors.

import type { EntryPath, WantedEntry } from "../../../src/cli/mcp-install/config-text.ts";

export const ENTRY_PATH: EntryPath = { servers: "mcpServers", name: "rlm" };
export const WANTED: WantedEntry = {
  command: { command: "/usr/bin/node", args: ["/opt/rlm/cli.js", "mcp-serve"] },
  defaults: { timeout: 1_800_000 },
};
/** As a client reads it. */
export const ENTRY = { ...WANTED.command, ...WANTED.defaults };

/** Joins lines, each with a line end. */
export function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}
