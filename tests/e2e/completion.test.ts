// The completion scripts in the shells that they are for.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toHarmless } from "../../src/cli/completion/ids.ts";
import { record, smallRun, toRunId } from "../store/runs/recorded-run.ts";
import { COMMAND, rlm } from "./program.ts";

const RUN = toRunId("r-0123456789abcdef");
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rlm-completion-"));
  for (const name of ["bin", "data/runs", "here"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "bin", "rlm"), `#!/bin/sh\nexec ${COMMAND} "$@"\n`);
  chmodSync(join(folder, "bin", "rlm"), 0o755);
  for (const name of ["a file.txt", "apart.txt"]) writeFileSync(join(folder, "here", name), "");
  await record(smallRun(RUN), RUN, { folder: join(folder, "data", "runs") });
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(join(folder, shell), (await rlm(["completion", shell])).stdout);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(shell: string, args: readonly string[]): string[] {
  const path = `${join(folder, "bin")}:${process.env["PATH"]}`;
  const env = { PATH: path, HOME: folder, RLM_DATA: join(folder, "data"), LC_ALL: "C.UTF-8" };
  const output = execFileSync(shell, args, { cwd: join(folder, "here"), env, encoding: "utf8" });
  return output.split("\n").filter((line) => line !== "");
}

/** What bash offers for the last of these words. */
function inBash(...words: string[]): string[] {
  const code = `source ${join(folder, "bash")}
COMP_WORDS=(rlm "$@"); COMP_CWORD=$#; _rlm
((\${#COMPREPLY[@]} == 0)) || printf '%s\\n' "\${COMPREPLY[@]}"`;
  return run("bash", ["--norc", "--noprofile", "-c", code, "bash", ...words]);
}

/** The same in zsh, whose completion system is stood in for: its functions print what they are given. */
function inZsh(...words: string[]): string[] {
  const code = `
compdef() { : }
compset() { : }
_files() { print -l -- *(N) }
_describe() { local name=$@[-1]; print -l -- "\${(@P)name%%:*}" }
compadd() { if [[ $1 == -a ]]; then print -l -- "\${(@P)2}"; else print -l -- "\${@[2,-1]}"; fi }
source ${join(folder, "zsh")}
words=(rlm "$@"); CURRENT=$#words; _rlm`;
  return run("zsh", ["-f", "-c", code, "zsh", ...words]).filter((word) => word.startsWith(words.at(-1) ?? ""));
}

/** The same in fish, without its descriptions. */
function inFish(...words: string[]): string[] {
  const line = ["rlm", ...words].join(" ");
  const code = `source ${join(folder, "fish")}; complete -C '${line}'`;
  return run("fish", ["--no-config", "-c", code]).map((offer) => offer.split("\t")[0] ?? "");
}

const SHELLS = [
  ["bash", inBash],
  ["zsh", inZsh],
  ["fish", inFish],
] as const;

describe.each(SHELLS)("in %s", (shell, complete) => {
  beforeEach(({ skip }) => skip(spawnSync(shell, ["--version"]).error !== undefined, `${shell} is not installed`));

  test("commands and subcommands are completed, and not their aliases", () => {
    expect(complete("se").sort()).toEqual(["serve", "sessions"]);
    expect(complete("sessions", "o")).toEqual(["open"]);
    expect(complete("logs", "").filter((word) => /^[a-z]+$/.test(word))).toEqual(
      expect.arrayContaining(["export", "list", "show"]),
    );
    expect(complete("complete")).toEqual([]);
  });

  test("every option of the help text is completed", async () => {
    for (const names of [["exec"], ["run"], ["serve"], ["sessions", "open"], ["sessions", "ls"], ["logs", "export"]]) {
      const { stdout } = await rlm(["help", ...names]);
      const described = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option = ""]) => option);
      expect(described.length).toBeGreaterThan(1);
      expect(complete(...names, "--").sort()).toEqual(expect.arrayContaining(described));
    }
  });

  test("choices are completed, also after options that take a value", () => {
    expect(complete("serve", "--log-level", "w")).toEqual(["warn"]);
    expect(complete("run", "--model", "sessions", "--mode", "r")).toEqual(["rlm"]);
    expect(complete("completion", "z")).toEqual(["zsh"]);
    expect(complete("help", "vers")).toEqual(["version"]);
  });

  test("files are completed where a path is wanted, and nothing where it is not", () => {
    const files = (offers: string[]): string[] => offers.map((offer) => offer.replaceAll("\\", "")).sort();
    expect(files(complete("exec", "--mount", "a"))).toEqual(["a file.txt", "apart.txt"]);
    expect(files(complete("exec", "ap"))).toEqual(["apart.txt"]);
    expect(files(complete("run", "--context", "x.txt", "ap"))).toEqual(["apart.txt"]);
    expect(files(complete("exec", "--", "ap"))).toEqual(["apart.txt"]);
    expect(complete("tasks", "cancel", "ap")).toEqual([]);
  });

  test("ids of runs are completed", () => {
    expect(complete("logs", "show", "")).toEqual(expect.arrayContaining(["last", RUN]));
    expect(complete("logs", "export", "r-01")).toEqual([RUN]);
  });
});

test("bash completes the value of --option=value", () => {
  expect(inBash("serve", "--log-level", "=", "w")).toEqual(["warn"]);
  expect(inBash("serve", "--log-level", "=").sort()).toEqual(["debug", "error", "info", "warn"]);
});

// Here `compopt` fails, as in bash 3.2, so that bash quotes nothing itself.
test("names of files cannot become shell code", () => {
  writeFileSync(join(folder, "here", "$(touch pwned).txt"), "");
  expect(inBash("exec", "$")).toEqual([String.raw`\$\(touch\ pwned\).txt`]);
});

test("ids that a shell would take for something else are not offered", () => {
  const hostile = ["--force", "-x", "$(x)", "a b", "a;b", "a\nb", "`x`", "*", "~", "\u001B[2J", "", "x".repeat(65)];
  expect(toHarmless(["s1", ...hostile, "_a.b-c"])).toEqual(["s1", "_a.b-c"]);
  expect(toHarmless(Array.from({ length: 1000 }, (_, at) => `s${at}`))).toHaveLength(200);
});

test("ids of a server that is not there are none, without an error", async () => {
  const env = { RLM_DATA: join(folder, "data"), RLM_URL: "", RLM_TOKEN: "" };
  expect(await rlm(["complete-ids", "sessions"], { env })).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("another shell is refused with those that there are", async () => {
  expect(await rlm(["completion", "ksh"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("bash, zsh, fish"),
  });
});

test("each script says how to install it", async () => {
  for (const shell of ["bash", "zsh", "fish"])
    expect((await rlm(["completion", shell])).stdout).toContain(`# In every shell`);
});
