// Completions at Tab: commands and their arguments after a colon, magics, names in code, else the signature of a function.

import { readdir } from "node:fs/promises";
import type { Session } from "../../../session/session.ts";
import { COMMAND_NAMES } from "./commands.ts";
import { toHostPath, type ReplContext } from "../context.ts";
import type { Completions } from "../editor/menu.ts";

const MAX_MATCHES = 500;
const MAX_LENGTH = 200;
const MAX_HINT = 1000;
const MAGICS = ["%time", "%timeit", "%%time", "%%timeit"];
const NONE: Completions = { start: 0, end: 0, matches: [] };

type Scope = Pick<ReplContext, "session" | "sessions">;

export async function completionsOf(scope: Scope, text: string, cursor: number): Promise<Completions> {
  const before = text.slice(0, cursor);
  if (before.startsWith(":")) return completeCommand(scope, before);
  if (/^%\w*$|^%%\w*$/.test(before)) return toCompletions(MAGICS, 0, before);
  const { session } = scope;
  const found = /[(,]\s*$/.test(before) ? undefined : await session.complete(text, cursor);
  const { start, end, matches } = found ?? { ...NONE, matches: [] };
  const kept = matches.slice(0, MAX_MATCHES).map((match) => match.text);
  const harmless = kept.filter((match) => isHarmless(text.slice(0, start), match));
  if (harmless.length > 0) return { start, end, matches: harmless };
  const signature = await session.signature(text, cursor);
  if (signature === null) return NONE;
  return { ...NONE, hint: `${signature.name}${signature.signature}`.slice(0, MAX_HINT) };
}

/** A completion from the session must not turn the line into a command of the console. */
function isHarmless(before: string, match: string): boolean {
  return match.length <= MAX_LENGTH && !/[\r\n]/.test(match) && !(before.trim() === "" && /^\s*[:?]/.test(match));
}

async function completeCommand(scope: Scope, before: string): Promise<Completions> {
  const [command = "", ...args] = before.split(" ");
  const start = before.lastIndexOf(" ") + 1;
  const typed = before.slice(start);
  const matches = args.length === 0 ? COMMAND_NAMES : await argumentsOf(scope, command, args.length, typed);
  return toCompletions(matches, start, before);
}

function toCompletions(known: readonly string[], start: number, before: string): Completions {
  const typed = before.slice(start);
  const matches = known.filter((match) => match.startsWith(typed)).slice(0, MAX_MATCHES);
  return { start, end: before.length, matches };
}

async function argumentsOf(scope: Scope, command: string, position: number, typed: string): Promise<readonly string[]> {
  switch (`${command} ${position}`) {
    case ":save 1":
    case ":load 1":
    case ":put 1":
    case ":get 2":
      return hostPaths(typed);
    case ":files 1":
    case ":get 1":
    case ":put 2":
      return sessionPaths(scope.session, typed);
    case ":inspect 1":
      return (await scope.session.variables()).variables.map(({ name }) => name);
    case ":switch 1":
      return scope.sessions.map(({ id }) => id);
    case ":rewind 1":
      return scope.session.checkpoints().map(({ id }) => id);
    default:
      return [];
  }
}

async function hostPaths(typed: string): Promise<string[]> {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const isHidden = typed.slice(folder.length).startsWith(".");
  const entries = await readdir(toHostPath(folder || "."), { withFileTypes: true });
  return entries
    .filter(({ name }) => isHidden || !name.startsWith("."))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .toSorted();
}

async function sessionPaths(session: Session, typed: string): Promise<string[]> {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const { entries } = await session.files.list(folder || ".");
  return entries.map(({ name, type }) => `${folder}${name}${type === "folder" ? "/" : ""}`);
}
