// Commands about the files of the session.

import { existsSync } from "node:fs";
import { basename } from "node:path";
import { need, toHostPath, type ReplContext } from "../context.ts";

export async function showFiles(context: ReplContext, [path = "."]: readonly string[]): Promise<void> {
  const { entries, omitted } = await context.session.files.list(path);
  if (entries.length === 0) context.line("no files");
  for (const { type, size, path: name } of entries) {
    context.line(`${(type === "file" ? String(size) : type).padStart(12)}  ${name}${type === "folder" ? "/" : ""}`);
  }
  if (omitted > 0) context.line(`and ${omitted} more`);
}

export async function put(context: ReplContext, [host, path]: readonly string[]): Promise<void> {
  const from = toHostPath(need(host, "a file of this machine"));
  const { path: to, size } = await context.session.files.writeFrom(path ?? basename(from), from);
  context.line(`${to}, ${size} bytes`);
}

/** Never replaces a file of this machine. */
export async function get(context: ReplContext, [path, host]: readonly string[]): Promise<void> {
  const from = need(path, "a file of the session");
  const to = toHostPath(host ?? basename(from));
  if (existsSync(to)) throw new Error(`'${to}' is there already: give another path`);
  const { size } = await context.session.files.readTo(from, to);
  context.line(`${to}, ${size} bytes`);
}
