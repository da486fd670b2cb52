// Chromium for tests of the page: Debian's package, which `node scripts/setup.mjs test` installs. Without it they skip and say why; with
// RLM_REQUIRE_BROWSER=1 they fail.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

const NAMES = ["chromium-headless-shell", "chromium", "google-chrome"];
const executablePath = findBrowser();
const NO_BROWSER = `none of ${NAMES.join(", ")} is installed: apt-get install chromium-headless-shell`;

export const hasBrowser = executablePath !== undefined;
if (!hasBrowser) {
  if (process.env["RLM_REQUIRE_BROWSER"] === "1") throw new Error(`RLM_REQUIRE_BROWSER is set, and ${NO_BROWSER}`);
  process.stdout.write(`Skipped, tests of the page: ${NO_BROWSER}\n`);
}

/** Nothing but the page is loaded. Its own sandbox needs privileges that a container lacks, and the page comes from this project. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Otherwise text differs between machines.
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
];

export async function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(`Cannot start a browser: ${NO_BROWSER}`);
  return chromium.launch({ executablePath, args: FLAGS, timeout: 120_000 });
}

function findBrowser(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}
