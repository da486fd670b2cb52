import * as fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import type { WantedEntry } from "../../../src/cli/mcp-install/config-text.ts";
import { TOML } from "../../../src/cli/mcp-install/toml-edit.ts";
import { lines } from "./texts.ts";

const ENTRY_PATH = { servers: "mcp_servers", name: "rlm" };
const WANTED: WantedEntry = {
  command: { command: "/usr/bin/node", args: ["/opt/rlm/cli.js", "mcp-serve"] },
  defaults: { tool_timeout_sec: 1800 },
};
const ENTRY = { ...WANTED.command, ...WANTED.defaults };
const OURS = [
  "[mcp_servers.rlm]",
  'command = "/usr/bin/node"',
  'args = [ "/opt/rlm/cli.js", "mcp-serve" ]',
  "tool_timeout_sec = 1800",
];

describe("put", () => {
  test("an empty file gets the table and nothing else", () => {
    expect(TOML.put("", ENTRY_PATH, WANTED)).toBe(lines(...OURS));
    expect(TOML.snippet(ENTRY_PATH, WANTED)).toBe(lines(...OURS));
  });

  test("existing text stays, followed by an empty line and the table", () => {
    const before = lines("# mine", 'model = "x" # the best', "", "[mcp_servers.other]", "command = 'y'");
    expect(TOML.put(before, ENTRY_PATH, WANTED)).toBe(before + lines("", ...OURS));
  });

  test("a missing final newline is added", () => {
    expect(TOML.put('model = "x"', ENTRY_PATH, WANTED)).toBe(lines('model = "x"', "", ...OURS));
  });

  test("CRLF is kept", () => {
    const after = TOML.put("a = 1\r\n", ENTRY_PATH, WANTED);
    expect(after).toBe(["a = 1", "", ...OURS, ""].join("\r\n"));
  });

  test("an entry that is as wanted is left alone, in any notation", () => {
    const text = lines(
      '[ "mcp_servers" . rlm ] # ours',
      "tool_timeout_sec = 60",
      "args = [",
      "  '/opt/rlm/cli.js', # the program",
      '  "mcp-serve",',
      "]",
      'command = """/usr/bin/node"""',
      "[mcp_servers.rlm.env]",
      'A = "1"',
    );
    expect(TOML.put(text, ENTRY_PATH, WANTED)).toBe(text);
  });

  test("an entry that was edited by hand keeps its additions", () => {
    const before = lines(
      "[mcp_servers.rlm2]",
      'command = "old"',
      "[mcp_servers.rlm]",
      'enabled_tools = ["shell"] # only that',
      'command = "old" # of last year',
      'args = ["old", "mcp-serve"]',
      "# about the next",
      "[mcp_servers.rlm.env]",
      'command = "old"',
      "[after]",
    );
    expect(TOML.put(before, ENTRY_PATH, WANTED)).toBe(
      lines(
        "[mcp_servers.rlm2]",
        'command = "old"',
        "[mcp_servers.rlm]",
        'enabled_tools = ["shell"] # only that',
        'command = "/usr/bin/node" # of last year',
        'args = [ "/opt/rlm/cli.js", "mcp-serve" ]',
        "tool_timeout_sec = 1800",
        "# about the next",
        "[mcp_servers.rlm.env]",
        'command = "old"',
        "[after]",
      ),
    );
  });

  test("a table header inside a string is ignored", () => {
    const before = lines(
      'a = """',
      "[mcp_servers.rlm]",
      'command = "x"',
      '""""',
      "b = '''",
      "[mcp_servers.rlm]",
      "'''",
    );
    const after = TOML.put(before, ENTRY_PATH, WANTED);
    expect(after).toBe(before + lines("", ...OURS));
    const changed = TOML.put(after, ENTRY_PATH, { ...WANTED, command: { ...WANTED.command, command: "/new" } });
    expect(changed).toBe(after.replace("/usr/bin/node", "/new"));
    expect(TOML.remove(changed, ENTRY_PATH)).toBe(before);
  });
});

describe("what cannot be edited is refused", () => {
  test.each([
    ["a syntax error, with line and column", 'a = 1\nb = "x', /^line 2, column \d+: /],
    ["a table twice", "[a]\n[a]\n", /^line 2, column 2: trying to redefine/],
    ["servers that are an inline table", 'mcp_servers = { a = { command = "x" } }', /form that cannot be changed here/],
    ["an entry that is an inline table", 'mcp_servers.rlm = { args = ["mcp-serve"] }', /form that cannot be changed/],
    ["an entry in dotted keys", 'mcp_servers.rlm.args = ["mcp-serve"]', /form that cannot be changed/],
    ["an array of tables", "[[mcp_servers.rlm]]\n", /form that cannot be changed/],
    ["servers that are no table", "mcp_servers = 1", /form that cannot be changed/],
  ])("%s", (_, text, message) => {
    expect(() => TOML.put(text, ENTRY_PATH, WANTED)).toThrow(message);
  });

  test("with a snippet to add by hand, if that helps", () => {
    expect(() => TOML.put("mcp_servers = {}", ENTRY_PATH, WANTED)).toThrow(
      expect.objectContaining({ snippet: lines(...OURS) }),
    );
  });

  test("by remove(), too", () => {
    expect(() => TOML.remove('mcp_servers.rlm = { args = ["mcp-serve"] }', ENTRY_PATH)).toThrow("take it out by hand");
  });
});

describe("remove", () => {
  test("removes the table and its subtables, and keeps the comments of the next table", () => {
    const before = lines(
      "a = 1",
      "",
      "# servers",
      "[mcp_servers.rlm] # ours",
      'args = ["mcp-serve"]',
      "",
      "[mcp_servers.rlm.env]",
      'A = "1"',
      "# the other",
      "[mcp_servers.rlm2]",
    );
    expect(TOML.remove(before, ENTRY_PATH)).toBe(
      lines("a = 1", "", "# servers", "", "# the other", "[mcp_servers.rlm2]"),
    );
  });

  test("changes nothing if there is no entry", () => {
    expect(TOML.remove("[mcp_servers.rlm2]", ENTRY_PATH)).toBe("[mcp_servers.rlm2]");
  });
});

// Arbitrary documents: tables with any names, all kinds of strings, comments and empty lines between.
const name = fc.constantFrom("mcp_servers", "rlm2", "a", "a b", "x.y", "'", '"', "#", "[rlm]");
const text = fc.oneof(fc.string(), fc.constantFrom("[mcp_servers.rlm]\n", '"""', "'''", "\\", "#", "]\n["));
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.double({ noNaN: true }), fc.date({ noInvalidDate: true }));
const table = fc.dictionary(name, fc.oneof(scalar, fc.array(text), fc.dictionary(name, text, { maxKeys: 3 })), {
  maxKeys: 5,
});
const decoration = fc.constantFrom("", "\n", "# note ]\n", "  \n", '# """\n', "\t# [mcp_servers.rlm]\n");
const documents = fc
  .tuple(table, fc.dictionary(fc.constantFrom("rlm2", "b"), table), fc.array(decoration), fc.boolean(), fc.boolean())
  .filter(([root]) => root["mcp_servers"] === undefined)
  .map(([root, servers, notes, hasEnd, isCRLF]) => {
    const long = `long = """\n[mcp_servers.rlm]\n\\""" '''"""\nraw = '''\n[x]\n"""'''''\n`;
    const body = stringify({ ...root, ...(Object.keys(servers).length > 0 && { mcp_servers: servers }) });
    const whole = `${notes.join("")}${long}${body.replaceAll(/^(?=\[)/gm, () => notes.join(""))}`;
    const ended = hasEnd ? `${whole.trimEnd()}\n` : whole.trimEnd();
    return isCRLF ? ended.replaceAll("\n", "\r\n") : ended;
  })
  .filter((document) => isValid(document));

describe("for any document", () => {
  test("put() changes nothing else, and remove() restores the text", () => {
    fc.assert(
      fc.property(documents, (document) => {
        const after = TOML.put(document, ENTRY_PATH, WANTED);
        expect(after.startsWith(document)).toBe(true);
        expect(TOML.read(after, ENTRY_PATH)).toEqual(ENTRY);
        expect(TOML.put(after, ENTRY_PATH, WANTED)).toBe(after);
        const lineEnd = document.includes("\r\n") ? "\r\n" : "\n";
        expect(TOML.remove(after, ENTRY_PATH)).toBe(document.endsWith("\n") ? document : `${document}${lineEnd}`);
      }),
      { numRuns: 300 },
    );
  });

  test("a table before others is changed and removed without touching the rest", () => {
    fc.assert(
      fc.property(documents, (document) => {
        const old = lines("[mcp_servers.rlm] # x", 'args = ["a]", "mcp-serve"]', "command = '''old", "'''", "");
        const start = document.search(/^\[/m) === -1 ? document.length : headerStart(document);
        const before = `${endLine(document.slice(0, start))}${old}${document.slice(start)}`;
        fc.pre(isValid(before));
        const after = TOML.put(before, ENTRY_PATH, WANTED);
        expect(TOML.read(after, ENTRY_PATH)).toEqual(ENTRY);
        const rest = TOML.remove(after, ENTRY_PATH);
        expect(rest.replaceAll(/\r?\n/g, "")).toBe(document.replaceAll(/\r?\n/g, ""));
      }),
      { numRuns: 300 },
    );
  });
});

/** The offset for a table before the others: after the long strings, before the first header. */
function headerStart(document: string): number {
  const from = document.indexOf("'''''") + "'''''".length;
  const found = document.slice(from).search(/^\[/m);
  return found === -1 ? document.length : from + found;
}

function endLine(document: string): string {
  return document.endsWith("\n") ? document : `${document}\n`;
}

function isValid(document: string): boolean {
  try {
    parse(document, { integersAsBigInt: "asNeeded" });
    return true;
  } catch {
    return false;
  }
}
