// Commands about the state of sessions: forks, checkpoints and session files.

import { toSkipped } from "../../exec/session-file.ts";
import { need, toHostPath, type ReplContext } from "../context.ts";

export async function fork(context: ReplContext, [id]: readonly string[]): Promise<void> {
  const before = context.session.id;
  const session = await context.session.fork(id === undefined ? {} : { id });
  context.switchTo(session);
  context.line(`now in ${session.id}, a copy of ${before}; :switch ${before} goes back`);
}

export function switchSession(context: ReplContext, [id]: readonly string[]): void {
  const wanted = need(id, "the id of a session");
  const session = context.sessions.find((one) => one.id === wanted);
  const known = context.sessions.map((one) => one.id).join(" ");
  if (session === undefined) throw new Error(`there is no session '${wanted}'. There are: ${known}`);
  context.switchTo(session);
}

export async function showSessions(context: ReplContext): Promise<void> {
  for (const session of context.sessions) {
    const { id, executionCount, createdAt } = await session.info();
    const mark = session === context.session ? "*" : " ";
    context.line(`${mark} ${id.padEnd(12)}  ${executionCount} executions, since ${createdAt.slice(11, 19)}`);
  }
}

export async function undo(context: ReplContext): Promise<void> {
  await context.session.undo();
  context.line("the last execution is undone; files are not touched");
}

export async function checkpoint(context: ReplContext): Promise<void> {
  const { id } = await context.session.checkpoint();
  context.line(`checkpoint ${id}; ':rewind ${id}' returns to it`);
}

/** Lists the checkpoints if no id is given. */
export async function rewind(context: ReplContext, [name]: readonly string[]): Promise<void> {
  if (name === undefined) return showCheckpoints(context);
  const id = /^\d+$/.test(name) ? `c${name}` : name;
  await context.session.rewind(id);
  context.line(`the state is that of checkpoint ${id}; files are not touched`);
}

function showCheckpoints(context: ReplContext): void {
  const kept = context.session.checkpoints();
  if (kept.length === 0) context.line("no checkpoints; ':checkpoint' makes one");
  for (const { id, createdAt, executionCount, isAutomatic } of kept) {
    const why = isAutomatic ? ", for :undo" : "";
    const state = executionCount === 0 ? "at the start" : `after execution ${executionCount}`;
    context.line(`${id.padEnd(6)}  ${state}, at ${createdAt.slice(11, 19)}${why}`);
  }
}

export async function save(context: ReplContext, [path]: readonly string[]): Promise<void> {
  const report = await context.session.save(toHostPath(need(path, "the path of a file")));
  context.line(`${report.names.length} names in ${report.path}, ${report.sizeBytes} bytes`);
  for (const line of toSkipped(report, "saved")) context.line(line);
}

export async function load(context: ReplContext, [path, id]: readonly string[]): Promise<void> {
  const session = await context.load(toHostPath(need(path, "the path of a session file")), id);
  context.switchTo(session);
  const { loaded } = session;
  context.line(`now in ${session.id}, with ${loaded?.names.length ?? 0} names from ${path}`);
  for (const line of loaded ? toSkipped(loaded, "loaded") : []) context.line(line);
}

export async function reset(context: ReplContext): Promise<void> {
  await context.session.reset();
  context.line("the namespace is empty; files stay");
}
