// Commands about the state of sessions: copies of it, ways back, files that hold it.

import { toSkipped } from "../../exec/session-file.ts";
import { need, toHostPath, type Desk } from "../context.ts";

export async function fork(desk: Desk, [id]: readonly string[]): Promise<void> {
  const before = desk.session.id;
  const session = await desk.session.fork(id === undefined ? {} : { id });
  desk.switchTo(session);
  desk.line(`now in ${session.id}, a copy of ${before}; :switch ${before} goes back`);
}

export function switchSession(desk: Desk, [id]: readonly string[]): void {
  const wanted = need(id, "the id of a session");
  const session = desk.sessions.find((one) => one.id === wanted);
  const known = desk.sessions.map((one) => one.id).join(" ");
  if (session === undefined) throw new Error(`there is no session '${wanted}'. There are: ${known}`);
  desk.switchTo(session);
}

export async function showSessions(desk: Desk): Promise<void> {
  for (const session of desk.sessions) {
    const { id, executionCount, createdAt } = await session.info();
    const mark = session === desk.session ? "*" : " ";
    desk.line(`${mark} ${id.padEnd(12)}  ${executionCount} executions, since ${createdAt.slice(11, 19)}`);
  }
}

export async function undo(desk: Desk): Promise<void> {
  await desk.session.undo();
  desk.line("the last execution is undone; files are not touched");
}

export async function checkpoint(desk: Desk): Promise<void> {
  const { id } = await desk.session.checkpoint();
  desk.line(`checkpoint ${id}; ':rewind ${id}' returns to it`);
}

/** Without a name: which there are. */
export async function rewind(desk: Desk, [given]: readonly string[]): Promise<void> {
  if (given === undefined) return showCheckpoints(desk);
  const id = /^\d+$/.test(given) ? `c${given}` : given;
  await desk.session.rewind(id);
  desk.line(`the state is that of checkpoint ${id}; files are not touched`);
}

function showCheckpoints(desk: Desk): void {
  const kept = desk.session.checkpoints();
  if (kept.length === 0) desk.line("no checkpoints; ':checkpoint' makes one");
  for (const { id, createdAt, executionCount, isAutomatic } of kept) {
    const why = isAutomatic ? ", for :undo" : "";
    desk.line(`${id.padEnd(6)}  after ${executionCount} executions, at ${createdAt.slice(11, 19)}${why}`);
  }
}

export async function save(desk: Desk, [path]: readonly string[]): Promise<void> {
  const report = await desk.session.save(toHostPath(need(path, "the path of a file")));
  desk.line(`${report.names.length} names in ${report.path}, ${report.sizeBytes} bytes`);
  for (const line of toSkipped(report, "saved")) desk.line(line);
}

export async function load(desk: Desk, [path, id]: readonly string[]): Promise<void> {
  const session = await desk.load(toHostPath(need(path, "the path of a session file")), id);
  desk.switchTo(session);
  const { loaded } = session;
  desk.line(`now in ${session.id}, with ${loaded?.names.length ?? 0} names from ${path}`);
  for (const line of loaded ? toSkipped(loaded, "loaded") : []) desk.line(line);
}

export async function reset(desk: Desk): Promise<void> {
  await desk.session.reset();
  desk.line("the namespace is empty; files stay");
}
