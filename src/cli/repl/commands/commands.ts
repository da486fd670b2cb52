// The commands of the console, which begin with a colon.

import type { Action, ReplContext } from "../context.ts";
import { get, put, showFiles } from "./files.ts";
import { showHistory } from "./history.ts";
import { checkpoint, fork, load, reset, rewind, save, showSessions, switchSession, undo } from "./state.ts";
import { inspect, showVariables } from "./variables.ts";

interface Command {
  readonly usage: string;
  readonly summary: string;
  readonly run: Action;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  help: { usage: ":help", summary: "this list", run: (context) => context.line(helpText()) },
  vars: { usage: ":vars", summary: "the variables", run: showVariables },
  inspect: { usage: ":inspect NAME", summary: "one of them; also NAME?. NAME?? shows the source", run: inspect },
  history: { usage: ":history [N] [TEXT]", summary: "the last N inputs, or those that contain TEXT", run: showHistory },
  fork: { usage: ":fork [ID]", summary: "a copy of the session, and go there", run: fork },
  switch: { usage: ":switch ID", summary: "go to another session", run: switchSession },
  sessions: { usage: ":sessions", summary: "the sessions of this console", run: showSessions },
  undo: { usage: ":undo", summary: "take the last execution back", run: undo },
  checkpoint: { usage: ":checkpoint", summary: "keep the state as it is now", run: checkpoint },
  rewind: { usage: ":rewind [N]", summary: "go back to checkpoint N; without N: which there are", run: rewind },
  save: { usage: ":save PATH", summary: "write the state to a session file", run: save },
  load: { usage: ":load PATH [ID]", summary: "open a session file", run: load },
  files: { usage: ":files [PATH]", summary: "files of the session", run: showFiles },
  put: { usage: ":put HOST [PATH]", summary: "copy a file of this machine into the session", run: put },
  get: { usage: ":get PATH [HOST]", summary: "copy a file of the session to this machine", run: get },
  env: { usage: ":env [KEY=VALUE]", summary: "environment variables of the session", run: setVariable },
  time: { usage: ":time", summary: "how long the last execution took", run: showTime },
  reset: { usage: ":reset", summary: "empty the namespace", run: reset },
  restart: {
    usage: ":restart",
    summary: "a new session, without state and files",
    run: (context) => context.restart(),
  },
  quit: { usage: ":quit", summary: "leave; so does Ctrl-D", run: (context) => context.quit() },
};

const HELP_WIDTH = 21;
const ALIASES: Readonly<Record<string, string>> = { h: "help", "?": "help", q: "quit", exit: "quit" };

/** For completion. */
export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS).map((name) => `:${name}`);

/** Throws errors that the user should see. */
export async function runCommand(context: ReplContext, line: string): Promise<void> {
  const [name = "", ...args] = splitWords(line.slice(1));
  const known = ALIASES[name] ?? name;
  const command = Object.hasOwn(COMMANDS, known) ? COMMANDS[known] : undefined;
  if (command === undefined) throw new Error(`there is no :${name}. There are: ${COMMAND_NAMES.join(" ")}`);
  await command.run(context, args);
}

/** Splits like a shell: quotes keep spaces. */
export function splitWords(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'|\\(.)/g, (_, double, single, plain) => double ?? single ?? plain),
  );
}

const KEYS: Readonly<Record<string, string>> = {
  Enter: "runs complete code; an empty line ends a block",
  "Alt-Enter, Ctrl-O": "begin a new line",
  Tab: "completes names, commands and paths",
  "Up, Down": "recall inputs that begin like the line; Ctrl-R searches",
  "Right, Ctrl-E": "accept the grey suggestion; Alt-F: one word of it",
  "Ctrl-_, Alt-_": "undo typing, redo it",
  "Ctrl-C": "interrupts the code, or clears what is typed",
  "Ctrl-D": "on an empty line: leaves",
};

const CODE: Readonly<Record<string, string>> = {
  "NAME?, NAME??": "what NAME is; its source",
  "_, __, Out[N]": "the last values, the value of input N; In[N] is its code",
  "%time CODE": "how long it takes; %%time measures all lines below it",
  "%timeit CODE": "the average, with -n LOOPS and -r RUNS; or %%timeit",
  "!COMMAND": "runs a shell command; x = !COMMAND keeps its lines",
};

function helpText(): string {
  const commands = Object.values(COMMANDS).map(({ usage, summary }) => [usage, summary] as const);
  return [
    "Commands:",
    ...commands.map(toHelpLine),
    "Keys:",
    ...Object.entries(KEYS).map(toHelpLine),
    "Code:",
    ...Object.entries(CODE).map(toHelpLine),
  ].join("\n");
}

function toHelpLine([usage, summary]: readonly [string, string]): string {
  return `  ${usage.padEnd(HELP_WIDTH)}${summary}`;
}

async function setVariable(context: ReplContext, [assignment, ...others]: readonly string[]): Promise<void> {
  if (assignment === undefined) {
    for (const [key, value] of context.env) context.line(`${key}=${value}`);
    if (context.env.size === 0) context.line("none were set");
    return;
  }
  const at = assignment.indexOf("=");
  if (at < 1) throw new Error("give KEY=VALUE");
  if (others.length > 0) throw new Error(`give one KEY=VALUE; a value with spaces in quotes, as in KEY='a b'`);
  const [key, value] = [assignment.slice(0, at), assignment.slice(at + 1)];
  await context.run(`__import__("os").environ.__setitem__(${JSON.stringify(key)}, ${JSON.stringify(value)})`);
  context.env.set(key, value);
}

function showTime(context: ReplContext): void {
  const { last } = context;
  if (last === undefined) return context.line("nothing was run yet");
  const [seconds, cpu] = [last.durationMs, last.cpuMs].map((time) => (time / 1000).toFixed(3));
  const memory = (last.peakMemoryBytes / 1024 ** 2).toFixed(0);
  context.line(`${seconds} s, processor ${cpu} s, memory at most ${memory} MiB`);
}
