// Parses JSON with comments and trailing commas into a tree with offsets.

import { Refusal } from "./refusal.ts";
import { describeOffset, isTable } from "./config-text.ts";

export interface JSONCNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** The members of an object, in order. */
  readonly members?: readonly JSONCMember[];
}

export interface JSONCMember {
  readonly key: string;
  /** The offset of the key. */
  readonly start: number;
  readonly node: JSONCNode;
  /** The offset of the comma after it. */
  readonly comma: number | undefined;
}

const MAX_DEPTH = 500;

/** Undefined: only white space and comments. Throws a `Refusal` that names line and column. */
export function parseJSONC(text: string): JSONCNode | undefined {
  const reader = new Reader(text);
  if (skipBlank(text, 0) === text.length) return undefined;
  const root = reader.readValue(0);
  if (skipBlank(text, root.end) !== text.length) throw problem(text, skipBlank(text, root.end), "the end of the file");
  return root;
}

/** The first offset that is neither white space nor comment. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (at < text.length && " \t\r\n".includes(text.charAt(at))) at += 1;
    const end = commentEnd(text, at);
    if (end === undefined) return at;
    at = end;
  }
}

/** Undefined: no comment begins here. The line end after `//` is not part of the comment. */
export function commentEnd(text: string, at: number): number | undefined {
  if (text.startsWith("//", at)) {
    const lineEnd = text.indexOf("\n", at);
    if (lineEnd === -1) return text.length;
    return text.charAt(lineEnd - 1) === "\r" ? lineEnd - 1 : lineEnd;
  }
  if (!text.startsWith("/*", at)) return undefined;
  const end = text.indexOf("*/", at + 2);
  if (end === -1) throw problem(text, at, "the end of this comment");
  return end + 2;
}

class Reader {
  readonly #text: string;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(from: number): JSONCNode {
    const start = skipBlank(this.#text, from);
    switch (this.#text.charAt(start)) {
      case "{":
        return this.#nested(() => this.#readObject(start), start);
      case "[":
        return this.#nested(() => this.#readArray(start), start);
      case '"':
        return this.#readString(start);
      default:
        return this.#readWord(start);
    }
  }

  #nested(read: () => JSONCNode, start: number): JSONCNode {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw problem(this.#text, start, `at most ${MAX_DEPTH} levels`);
    const node = read();
    this.#depth -= 1;
    return node;
  }

  #readObject(start: number): JSONCNode {
    const members: JSONCMember[] = [];
    let at = skipBlank(this.#text, start + 1);
    while (this.#text.charAt(at) !== "}") {
      if (this.#text.charAt(at) !== '"') throw problem(this.#text, at, "a key in double quotes, or '}'");
      const key = this.#readString(at);
      const colon = skipBlank(this.#text, key.end);
      if (this.#text.charAt(colon) !== ":") throw problem(this.#text, colon, "':'");
      const node = this.readValue(colon + 1);
      const { comma, next } = this.#readComma(node.end, "}");
      members.push({ key: key.value as string, start: at, node, comma });
      at = next;
    }
    // fromEntries defines properties, so that __proto__ is an ordinary key
    const value = Object.fromEntries(members.map(({ key, node }) => [key, node.value]));
    return { start, end: at + 1, value, members };
  }

  #readArray(start: number): JSONCNode {
    const value: unknown[] = [];
    let at = skipBlank(this.#text, start + 1);
    while (this.#text.charAt(at) !== "]") {
      const node = this.readValue(at);
      value.push(node.value);
      at = this.#readComma(node.end, "]").next;
    }
    return { start, end: at + 1, value };
  }

  #readComma(from: number, close: string): { readonly comma: number | undefined; readonly next: number } {
    const at = skipBlank(this.#text, from);
    if (this.#text.charAt(at) === ",") return { comma: at, next: skipBlank(this.#text, at + 1) };
    if (this.#text.charAt(at) === close) return { comma: undefined, next: at };
    throw problem(this.#text, at, `',' or '${close}'`);
  }

  #readString(start: number): JSONCNode {
    let at = start + 1;
    while (at < this.#text.length && !'"\n'.includes(this.#text.charAt(at))) {
      at += this.#text.charAt(at) === "\\" ? 2 : 1;
    }
    return this.#parse(start, at + 1, "a string that ends on its line");
  }

  #readWord(start: number): JSONCNode {
    const length = this.#text.slice(start, start + 400).search(/[\s,:"/{}[\]]|$/);
    return this.#parse(start, start + length, "a value");
  }

  #parse(start: number, end: number, expected: string): JSONCNode {
    try {
      return { start, end, value: JSON.parse(this.#text.slice(start, end)) as unknown };
    } catch (error) {
      throw problem(this.#text, start, expected, error);
    }
  }
}

function problem(text: string, offset: number, expected: string, cause?: unknown): Refusal {
  return new Refusal(`${describeOffset(text, offset)}: expected ${expected}`, { cause });
}

export function isObject(node: JSONCNode): boolean {
  return isTable(node.value);
}
