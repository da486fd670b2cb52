// The documents.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every document for users and contributors. CHANGELOG.md is history: its old entries name what no longer exists. */
export const PAGES: readonly string[] = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "examples/README.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => join("docs", path))
    .toSorted(),
];

/** Generated from the types, and compared with them by `npm run check`: their blocks are declarations. */
export function isGenerated(page: string): boolean {
  return page === "docs/api-report.md" || page.startsWith("docs/reference/");
}

export function readPage(page: string): string {
  return readFileSync(page, "utf8");
}
