import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

interface Progress {
  readonly packagesInstalled: (folder: string) => () => string;
  readonly runWithProgress: (command: string, args: readonly string[], options: object) => Promise<boolean>;
}

const script = new URL("../../scripts/install-progress.mjs", import.meta.url).href;
const { packagesInstalled, runWithProgress } = (await import(script)) as Progress;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rlm-progress-"));
  const packages = {
    "": { name: "root" },
    "node_modules/a": {},
    "node_modules/a/node_modules/b": { os: [process.platform], cpu: [process.arch] },
    "node_modules/other": { os: ["plan9"] },
  };
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ packages }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function install(name: string): void {
  mkdirSync(join(folder, "node_modules", name), { recursive: true });
  writeFileSync(join(folder, "node_modules", name, "package.json"), "{}");
}

/** A command that ends when the file `go` exists. */
const wait = (): string[] => [
  "-e",
  `const timer = setInterval(() => require("fs").existsSync(${JSON.stringify(join(folder, "go"))}) && clearInterval(timer), 5)`,
];

/** Installs a package with each line that is shown, and lets the command end after the last one. */
function stream(isTTY: boolean): { readonly lines: string[]; readonly isTTY: boolean; write(text: string): void } {
  const lines: string[] = [];
  const write = (text: string): void => {
    lines.push(text);
    if (text.includes("0 of 2")) install("a");
    else if (text.includes("1 of 2")) install("a/node_modules/b");
    else if (text.includes("2 of 2")) writeFileSync(join(folder, "go"), "");
  };
  return { lines, isTTY, write };
}

test("counts the packages for this machine", () => {
  const describe = packagesInstalled(folder);
  expect(describe()).toBe("installing packages, 0 of 2");
  install("a");
  expect(describe()).toBe("installing packages, 1 of 2");
});

test("without a terminal it prints plain lines", async () => {
  const shown = stream(false);
  const options = { describe: packagesInstalled(folder), stream: shown, everyMs: 1 };
  expect(await runWithProgress(process.execPath, wait(), options)).toBe(true);
  for (const line of shown.lines) expect(line).toMatch(/^setup: installing packages, [012] of 2, \d+ s\n$/);
  expect(shown.lines.at(-1)).toContain("2 of 2");
});

test("on a terminal it rewrites one line, and removes it at the end", async () => {
  const shown = stream(true);
  const options = { describe: packagesInstalled(folder), stream: shown, everyMs: 1 };
  expect(await runWithProgress(process.execPath, wait(), options)).toBe(true);
  expect(shown.lines.join("")).not.toContain("\n");
  expect(shown.lines.at(-1)).toBe("\r\u001B[K");
});

test("on a terminal, a message of the command does not run into the line", async () => {
  const written: string[] = [];
  const write = (text: string | Buffer): void => {
    written.push(String(text));
    if (String(text).includes("at work")) writeFileSync(join(folder, "go"), "");
  };
  const options = { describe: () => "at work", stream: { isTTY: true, write }, everyMs: 1 };
  const [flag = "", code = ""] = wait();
  const warning = "process.on('exit', () => require('fs').writeSync(2, 'npm warn planted\\n'));";
  expect(await runWithProgress(process.execPath, [flag, warning + code], options)).toBe(true);
  expect(written).toContain("\r\u001B[Knpm warn planted\n");
});

test("a command that fails or does not exist is reported", async () => {
  const options = { describe: () => "at work", stream: stream(false) };
  expect(await runWithProgress(process.execPath, ["-e", "process.exit(3)"], options)).toBe(false);
  expect(await runWithProgress("no-such-command", [], options)).toBe(false);
});
