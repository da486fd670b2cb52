// The `rlm` commands of a shell script in a document, checked against the definitions of the commands.
//
// bash itself splits the script into words: it runs with no program to find, where `rlm` is a function that records its arguments and
// everything else does nothing.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommanderError, type Command } from "commander";
import { createProgram } from "../../src/cli/main.ts";

/** The function prints a word, so that what a script takes from it, such as an id, is not empty. */
const RECORDER = `
PATH=/nonexistent
record() { printf '%s\\0' "$#" "$@" >&3; echo word; }
rlm() { record rlm "$@"; }
command_not_found_handle() { record "$@"; }
cd() { :; }
exec() { "$@"; }
`;
/** A command that runs the one in its arguments. */
const WRAPPERS = new Set(["sudo", "nohup", "time", "env", "exec", "nice"]);

/** What is wrong with a script: its syntax, or a command of ours that does not exist. Empty: nothing. */
export function problemsOf(script: string): string[] {
  const { status, stderr } = spawnSync("bash", ["-n"], { input: script, encoding: "utf8" });
  if (status !== 0 || stderr !== "") return [`bash cannot read it: ${stderr.trim()}`];
  return commandsOf(script).flatMap((words) => {
    const problem = problemOf(words);
    return problem === undefined ? [] : [`rlm ${words.join(" ")}: ${problem}`];
  });
}

/** The arguments of each `rlm` in a script. */
export function commandsOf(script: string): string[][] {
  if (/>\s*~?\/(?!dev\/null)/.test(script)) throw new Error(`this writes to an absolute path; use tee: ${script}`);
  const folder = mkdtempSync(join(tmpdir(), "rlm-docs-"));
  try {
    const { error } = spawnSync("bash", ["-c", `exec 3>>words\n${RECORDER}\n${script}`], {
      cwd: folder,
      env: { HOME: folder },
      stdio: "ignore",
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    if (error !== undefined) throw error;
    return readWords(readFileSync(join(folder, "words"), "utf8")).flatMap((words) => argumentsOf(words) ?? []);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Each command is the number of its words, then the words. */
function readWords(recorded: string): string[][] {
  const all = recorded.split("\0");
  const commands: string[][] = [];
  for (let at = 0; at < all.length - 1; at += Number(all[at]) + 1)
    commands.push(all.slice(at + 1, at + 1 + Number(all[at])));
  return commands;
}

/** The arguments of `rlm` in a command such as `sudo rlm ...`, `npx rlm-runtime ...` or `claude mcp add ... -- rlm ...`. */
function argumentsOf(words: readonly string[]): [string[]] | undefined {
  const [first = "", ...rest] = words;
  if (first === "rlm") return [rest];
  if (WRAPPERS.has(first)) return argumentsOf(rest.slice(rest.findIndex((word) => !/^-|=/.test(word))));
  if (first === "npx") {
    const [name, ...others] = rest.slice(rest.findIndex((word) => !word.startsWith("-")));
    return name === "rlm" || name === "rlm-runtime" ? [others] : undefined;
  }
  const separator = rest.indexOf("--");
  return separator === -1 ? undefined : argumentsOf(rest.slice(separator + 1));
}

/** Why the program would refuse these arguments. */
function problemOf(words: readonly string[]): string | undefined {
  const program = createProgram();
  for (const command of commandsBelow(program)) {
    // A command without an action, such as the program itself, refuses what is none of its commands.
    if (Reflect.get(command, "_actionHandler")) command.action(() => {});
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  }
  try {
    program.parse([...words], { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) return String(error);
    return error.exitCode === 0 ? undefined : error.message;
  }
}

/** What is wrong with a line such as `rlm logs show ID [--full]`: a command or an option that does not exist. */
export function synopsisProblems(line: string): string[] {
  let command: Command = createProgram();
  for (const word of line.split(/\s+/).slice(1)) {
    if (!/^[a-z][a-z-]*$/.test(word)) break;
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined && command.commands.length > 0) return [`${command.name()} has no command '${word}'`];
    command = next ?? command;
  }
  const known = new Set(["--help", ...command.options.flatMap(({ short, long }) => [short, long])]);
  const named = [...line.matchAll(/(?<=[\s[(|])--?[a-zA-Z][\w-]*/g)].map(([option]) => option);
  return named.filter((option) => !known.has(option)).map((option) => `${command.name()} has no option ${option}`);
}

function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)];
}
