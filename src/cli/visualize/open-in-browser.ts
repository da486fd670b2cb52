// Opens a link in the user's browser.
//
// Arguments of processes are visible to every user of the machine, and the link holds the token. So the browser is given the path of a page
// that only this user can read and that leads on to the link. It is removed a minute later.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../../util/data-folder.ts";

const FOLDER = join("server", "links");
/** How long a browser may take to start. */
const KEPT_SECONDS = 60;
/** A program that has not failed by then has found a browser. */
const FAILS_MS = 1_500;

/** Resolves to whether a browser was found. Never rejects, and does not wait for the browser to end. */
export async function openInBrowser(link: string): Promise<boolean> {
  const program = findOpener();
  const folder = program === undefined ? undefined : dataFolder(FOLDER);
  if (program === undefined || folder === undefined) return false;
  const path = join(folder, `${randomBytes(12).toString("hex")}.html`);
  try {
    // What was left by a machine that was switched off.
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    writeFileSync(path, toPage(link), { mode: 0o600, flag: "wx" });
  } catch {
    return false; // the disk is full, or the folder is not as this program left it
  }
  const isOpen = await start(program, [path]);
  if (isOpen) removeLater(path);
  else rmSync(path, { force: true });
  return isOpen;
}

/** Undefined: there is no screen to open a window on. */
function findOpener({ platform, env } = process): string | undefined {
  if (platform === "darwin") return "open";
  if (platform !== "linux") return undefined;
  if (isWindowsSubsystem()) return "wslview";
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? "xdg-open" : undefined;
}

function isWindowsSubsystem(): boolean {
  try {
    return /microsoft/i.test(readFileSync("/proc/version", "utf8"));
  } catch {
    return false;
  }
}

/** Resolves to false if it cannot be started, or fails soon. */
async function start(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: "ignore" });
    const timer = setTimeout(() => end(true), FAILS_MS);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once("error", () => end(false));
    child.once("exit", (code) => end(code === 0));
    child.unref();
  });
}

/** In a process of its own, because this one may end before. */
function removeLater(path: string): void {
  const script = `sleep ${KEPT_SECONDS}; rm -f -- "$1"`;
  spawn("/bin/sh", ["-c", script, "rlm", path], { detached: true, stdio: "ignore" })
    .on("error", () => rmSync(path, { force: true }))
    .unref();
}

/** Replaces itself, so that going back leads out of it. */
function toPage(link: string): string {
  const escaped = link.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${escaped}">
<title>RLM Runtime</title>
<p><a href="${escaped}">Open the page</a></p>
</html>
`;
}
