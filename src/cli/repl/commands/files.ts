// Commands about the files of the session.

import { existsSync } from "node:fs";
import { basename } from "node:path";
import { need, toHostPath, type Desk } from "../context.ts";

export async function showFiles(desk: Desk, [path = "."]: readonly string[]): Promise<void> {
  const { entries, omitted } = await desk.session.files.list(path);
  if (entries.length === 0) desk.line("no files");
  for (const { type, size, path: name } of entries) {
    desk.line(`${(type === "file" ? String(size) : type).padStart(12)}  ${name}${type === "folder" ? "/" : ""}`);
  }
  if (omitted > 0) desk.line(`and ${omitted} more`);
}

export async function put(desk: Desk, [host, path]: readonly string[]): Promise<void> {
  const from = toHostPath(need(host, "a file of this machine"));
  const { path: to, size } = await desk.session.files.writeFrom(path ?? basename(from), from);
  desk.line(`${to}, ${size} bytes`);
}

/** What is there on this machine already is never replaced. */
export async function get(desk: Desk, [path, host]: readonly string[]): Promise<void> {
  const from = need(path, "a file of the session");
  const to = toHostPath(host ?? basename(from));
  if (existsSync(to)) throw new Error(`'${to}' is there already: give another path`);
  const { size } = await desk.session.files.readTo(from, to);
  desk.line(`${to}, ${size} bytes`);
}
