// Edits one entry of a JSON file, with or without comments.
//
// A new member gets its own line, indented like its neighbours, or the line of its object if that has only one. Removing it
// restores the text character for character.

import {
  checkOthersKept,
  describeOffset,
  missing,
  toLineEnd,
  type Editor,
  type Entry,
  type EntryPath,
  type WantedEntry,
} from "./config-text.ts";
import { indentInside, indentOf, isOneLine, lineRest, lineStart, print } from "./jsonc-layout.ts";
import { isObject, parseJSONC, skipBlank, type JSONCMember, type JSONCNode } from "./jsonc-tree.ts";
import { Refusal } from "./refusal.ts";

export const JSONC: Editor = {
  read(text, entryPath) {
    return find(text, entryPath).entry?.node.value;
  },

  put(text, entryPath, wanted) {
    const { root, table, entry } = find(text, entryPath);
    if (root === undefined) return `${endLine(text)}${snippet(entryPath, wanted, toLineEnd(text))}`;
    const whole = { ...wanted.command, ...wanted.defaults };
    const changed =
      table === undefined
        ? insert(text, root, entryPath.servers, { [entryPath.name]: whole })
        : entry === undefined
          ? insert(text, table.node, entryPath.name, whole)
          : update(text, entryPath, wanted);
    checkOthersKept(valueOf(text), valueOf(changed), entryPath);
    return changed;
  },

  remove(text, entryPath) {
    const { root, table, entry } = find(text, entryPath);
    if (root === undefined || table === undefined || entry === undefined) return text;
    const isAlone = table.node.members?.length === 1;
    const inner = isAlone ? text.slice(table.node.start + 1, table.node.end - 1) : "";
    const hasComments = isAlone && /\/[/*]/.test(inner.replace(text.slice(entry.start, entry.node.end), ""));
    const changed = isAlone && !hasComments ? removeMember(text, root, table) : removeMember(text, table.node, entry);
    checkOthersKept(valueOf(text), valueOf(changed), entryPath);
    return changed;
  },

  snippet(entryPath, wanted) {
    return snippet(entryPath, wanted, "\n");
  },
};

function snippet({ servers, name }: EntryPath, { command, defaults }: WantedEntry, lineEnd: string): string {
  const file = { [servers]: { [name]: { ...command, ...defaults } } };
  return `${JSON.stringify(file, null, 2)}\n`.replaceAll("\n", lineEnd);
}

interface Found {
  readonly root: JSONCNode | undefined;
  readonly table: JSONCMember | undefined;
  readonly entry: JSONCMember | undefined;
}

function find(text: string, { servers, name }: EntryPath): Found {
  const root = parseJSONC(text);
  if (root === undefined) return { root, table: undefined, entry: undefined };
  if (!isObject(root)) throw new Refusal(`${describeOffset(text, root.start)}: expected an object`);
  const table = only(text, root, servers);
  if (table === undefined) return { root, table, entry: undefined };
  if (!isObject(table.node))
    throw new Refusal(`${describeOffset(text, table.node.start)}: "${servers}" is not an object`);
  return { root, table, entry: only(text, table.node, name) };
}

function only(text: string, node: JSONCNode, key: string): JSONCMember | undefined {
  const [member, second] = (node.members ?? []).filter((one) => one.key === key);
  if (second !== undefined) throw new Refusal(`${describeOffset(text, second.start)}: "${key}" is there twice`);
  return member;
}

function valueOf(text: string): Entry {
  return (parseJSONC(text)?.value ?? {}) as Entry;
}

/** Sets one key after the other, each in the text of the previous step. */
function update(before: string, entryPath: EntryPath, wanted: WantedEntry): string {
  const { entry } = find(before, entryPath);
  if (entry === undefined || !isObject(entry.node)) {
    throw new Refusal(`${describeOffset(before, entry?.node.start ?? 0)}: "${entryPath.name}" is not an object`);
  }
  let text = before;
  for (const [key, value] of missing(entry.node.value as Entry, wanted)) {
    const node = find(text, entryPath).entry?.node ?? entry.node;
    const member = only(text, node, key);
    text =
      member === undefined
        ? insert(text, node, key, value)
        : splice(text, member.node.start, member.node.end, print(text, node, value));
  }
  return text;
}

/** Adds a member after the others. */
function insert(text: string, object: JSONCNode, key: string, value: unknown): string {
  const last = object.members?.at(-1);
  const member = `${JSON.stringify(key)}:${isOneLine(text) ? "" : " "}${print(text, object, value)}`;
  if (last === undefined) return insertFirst(text, object, member);
  const isInline = !text.slice(object.start, last.start).includes("\n");
  const at = isInline ? (last.comma ?? last.node.end - 1) + 1 : lineRest(text, last);
  const gap = isInline ? (isOneLine(text) ? "" : " ") : `${toLineEnd(text)}${indentInside(text, object)}`;
  const added = last.comma === undefined ? `${gap}${member}` : `${gap}${member},`;
  const withMember = splice(text, at, at, added);
  return last.comma === undefined ? splice(withMember, last.node.end, last.node.end, ",") : withMember;
}

/** Adds the first member, after comments. */
function insertFirst(text: string, object: JSONCNode, member: string): string {
  const at = object.start + 1 + text.slice(object.start + 1, object.end - 1).trimEnd().length;
  if (isOneLine(text)) return splice(text, at, at, member);
  const lineEnd = toLineEnd(text);
  const closing = text.slice(at, object.end).includes("\n") ? "" : `${lineEnd}${indentOf(text, object.start)}`;
  return splice(text, at, at, `${lineEnd}${indentInside(text, object)}${member}${closing}`);
}

/** Removes a member with its comma and its line. */
function removeMember(text: string, object: JSONCNode, member: JSONCMember): string {
  const members = object.members ?? [];
  const previous = members[members.indexOf(member) - 1];
  const next = members[members.indexOf(member) + 1];
  const end = (member.comma ?? member.node.end - 1) + 1;
  if (members.length === 1 && text.slice(object.start + 1, member.start).trim() === "") {
    const close = text.slice(end, object.end - 1).trim() === "" ? object.end - 1 : end;
    return splice(text, object.start + 1, close, "");
  }
  const before = (previous?.comma ?? object.start) + 1;
  const without = splice(text, ...removalRange(text, { member, before, end, next }), "");
  // without a next member, the comma before it goes too
  const isTooMany = next === undefined && member.comma === undefined && previous?.comma !== undefined;
  return isTooMany ? splice(without, previous.comma, previous.comma + 1, "") : without;
}

interface Removal {
  readonly member: JSONCMember;
  /** The end of the previous member, without comments. */
  readonly before: number;
  readonly end: number;
  readonly next: JSONCMember | undefined;
}

function removalRange(text: string, { member, before, end, next }: Removal): [start: number, end: number] {
  const line = lineStart(text, member.start);
  if (line === undefined) {
    if (next !== undefined) return [member.start, next.start];
    return [text.slice(before, member.start).trim() === "" ? before : member.start, end];
  }
  const rest = end + text.slice(end).search(/[^ \t]|$/);
  const isLast = /^[\r\n]|^$/.test(text.charAt(rest));
  const joined = `${text.slice(before, line)}}`;
  const canJoin = text.charAt(rest) === "}" && skipBlank(joined, 0) === joined.length - 1; // else the brace would be inside a comment
  return isLast || canJoin ? [line, end] : [member.start, rest];
}

function endLine(text: string): string {
  return text.trim() === "" || text.endsWith("\n") ? text : `${text}${toLineEnd(text)}`;
}

function splice(text: string, start: number, end: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end);
}
