import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JSONC } from "../../../src/cli/mcp-install/jsonc-edit.ts";
import { parseJSONC } from "../../../src/cli/mcp-install/jsonc-tree.ts";
import { ENTRY, ENTRY_PATH, WANTED, lines } from "./texts.ts";

const OURS = [
  `"rlm": {`,
  `  "command": "/usr/bin/node",`,
  `  "args": [`,
  `    "/opt/rlm/cli.js",`,
  `    "mcp-serve"`,
  `  ],`,
  `  "timeout": 1800000`,
  `}`,
];

function ours(indent: string): string[] {
  return OURS.map((line) => `${indent}${line}`);
}

describe("put", () => {
  test("an empty file gets the entry and nothing else", () => {
    const text = lines("{", `  "mcpServers": {`, ...ours("    "), "  }", "}");
    expect(JSONC.put("", ENTRY_PATH, WANTED)).toBe(text);
    expect(JSONC.snippet(ENTRY_PATH, WANTED)).toBe(text);
  });

  test("comments stay where they are, also beside the last member", () => {
    const before = lines(
      "// servers",
      "{",
      `  "mcpServers": {`,
      `    /* first */ "other": { "command": "x" } // the other one`,
      `    // "old": { "command": "y" }`,
      "  }",
      "}",
    );
    expect(JSONC.put(before, ENTRY_PATH, WANTED)).toBe(
      lines(
        "// servers",
        "{",
        `  "mcpServers": {`,
        `    /* first */ "other": { "command": "x" }, // the other one`,
        ...ours("    "),
        `    // "old": { "command": "y" }`,
        "  }",
        "}",
      ),
    );
  });

  test("a trailing comma is kept as the style of the object", () => {
    const before = lines("{", `  "mcpServers": {`, `    "a": {}, // one`, "  },", "}");
    const [last = "", ...others] = ours("    ").toReversed();
    expect(JSONC.put(before, ENTRY_PATH, WANTED)).toBe(
      lines("{", `  "mcpServers": {`, `    "a": {}, // one`, ...others.toReversed(), `${last},`, "  },", "}"),
    );
  });

  test("tabs and CRLF are kept", () => {
    const before = '{\r\n\t"mcpServers": {}\r\n}\r\n';
    const after = JSONC.put(before, ENTRY_PATH, WANTED);
    expect(after).toContain('\r\n\t\t"rlm": {\r\n\t\t\t"command": "/usr/bin/node",\r\n');
    expect(after.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    expect(JSONC.read(after, ENTRY_PATH)).toEqual(ENTRY);
  });

  test("a file on one line stays on one line", () => {
    const entry = JSON.stringify(ENTRY);
    expect(JSONC.put('{"a":1}', ENTRY_PATH, WANTED)).toBe(`{"a":1,"mcpServers":{"rlm":${entry}}}`);
    expect(JSONC.put('{"mcpServers":{}}', ENTRY_PATH, WANTED)).toBe(`{"mcpServers":{"rlm":${entry}}}`);
  });

  test("a file with only comments keeps them first", () => {
    expect(JSONC.put("// nothing yet", ENTRY_PATH, WANTED)).toBe(
      `// nothing yet\n${JSONC.snippet(ENTRY_PATH, WANTED)}`,
    );
  });

  test("an entry that is as wanted is left alone, in any notation", () => {
    const text = `{"mcpServers": {"rlm": {"timeout": 5, "args": ["/opt/rlm/cli.js", "mcp-serve"],
      "command": "/usr/bin/node" /* mine */, "env": {"A": "1"}}}}`;
    expect(JSONC.put(text, ENTRY_PATH, WANTED)).toBe(text);
  });

  test("an entry that was edited by hand keeps its additions", () => {
    const before = lines(
      "{",
      `  "mcpServers": {`,
      `    "rlm": {`,
      `      "command": "/old/node", // of last year`,
      `      "args": ["/old/cli.js", "mcp-serve"],`,
      `      "env": { "RLM_DATA": "/data" }`,
      "    }",
      "  }",
      "}",
    );
    expect(JSONC.put(before, ENTRY_PATH, WANTED)).toBe(
      lines(
        "{",
        `  "mcpServers": {`,
        `    "rlm": {`,
        `      "command": "/usr/bin/node", // of last year`,
        `      "args": [`,
        `        "/opt/rlm/cli.js",`,
        `        "mcp-serve"`,
        `      ],`,
        `      "env": { "RLM_DATA": "/data" },`,
        `      "timeout": 1800000`,
        "    }",
        "  }",
        "}",
      ),
    );
  });

  test("a name with the same prefix is another server", () => {
    const before = `{\n  "mcpServers": {\n    "rlm2": {"args": ["mcp-serve"]}\n  }\n}\n`;
    const after = JSONC.put(before, ENTRY_PATH, WANTED);
    expect(JSON.parse(after)).toEqual({ mcpServers: { rlm2: { args: ["mcp-serve"] }, rlm: ENTRY } });
    expect(JSONC.remove(after, ENTRY_PATH)).toBe(before);
  });
});

describe("what cannot be edited is refused with line and column", () => {
  test.each([
    ["a missing comma", `{\n  "a": 1\n  "b": 2\n}`, "line 3, column 3: expected ',' or '}'"],
    ["a missing end", `{\n  "a": [1,`, "line 2, column 11: expected a value"],
    ["a string without end", `{"a": "x\n}`, "line 1, column 7: expected a string that ends on its line"],
    ["a bare key", `{a: 1}`, "line 1, column 2: expected a key in double quotes, or '}'"],
    ["a comment without end", `{} /* x`, "line 1, column 4: expected the end of this comment"],
    ["something after the end", `{}\n{}`, "line 2, column 1: expected the end of the file"],
    ["single quotes", `{"a": 'x'}`, "line 1, column 7: expected a value"],
    ["two commas", `{"a": 1,,}`, "line 1, column 9: expected a key in double quotes, or '}'"],
    ["an array", `[]`, "line 1, column 1: expected an object"],
    ["servers that are no object", `{"mcpServers": null}`, `line 1, column 16: "mcpServers" is not an object`],
    ["an entry that is no object", `{"mcpServers": {"rlm": 1}}`, `line 1, column 24: "rlm" is not an object`],
    ["servers twice", `{"mcpServers": {}, "mcpServers": {}}`, `line 1, column 20: "mcpServers" is there twice`],
    ["depth without end", "[".repeat(100_000), "line 1, column 501: expected at most 500 levels"],
  ])("%s", (_, text, message) => {
    expect(() => JSONC.put(text, ENTRY_PATH, WANTED)).toThrow(message);
  });
});

describe("remove", () => {
  test.each([
    [
      "the first of two",
      `{\n  "mcpServers": {\n    "rlm": {},\n    "b": {}\n  }\n}`,
      `{\n  "mcpServers": {\n    "b": {}\n  }\n}`,
    ],
    ["on the line of another", `{"mcpServers": {"rlm": {}, "b": {}},\n"x": 1}`, `{"mcpServers": {"b": {}},\n"x": 1}`],
    [
      "before a comment on its line",
      `{\n  "mcpServers": {\n    "a": {}, // a\n    "rlm": {}, /* was ours */ "b": {}\n  }\n}`,
      `{\n  "mcpServers": {\n    "a": {}, // a\n    /* was ours */ "b": {}\n  }\n}`,
    ],
    [
      "the last, after a comment",
      `{\n  "mcpServers": {\n    "a": {}, // a\n    "rlm": {} }\n}`,
      `{\n  "mcpServers": {\n    "a": {} // a\n    }\n}`,
    ],
    ["alone, with a comment", `{"mcpServers": {\n  // mine\n  "rlm": {}\n}}`, `{"mcpServers": {\n  // mine\n}}`],
    ["alone", `{\n  "a": 1,\n  "mcpServers": {\n    "rlm": {}\n  }\n}\n`, `{\n  "a": 1\n}\n`],
    ["where there is none", `{"mcpServers": {"b": {}}}`, `{"mcpServers": {"b": {}}}`],
    ["in nothing", "", ""],
  ])("%s", (_, before, after) => {
    expect(JSONC.remove(before, ENTRY_PATH)).toBe(after);
  });
});

// Arbitrary documents: any values, comments anywhere, trailing commas, any white space.
const blank = fc.constantFrom(
  "",
  " ",
  "\n",
  "\n  ",
  "\t",
  "\r\n    ",
  " // note\n",
  "/* , } */",
  '\n// { "rlm": 1\n  ',
);
const key = fc.oneof(fc.constantFrom("mcpServers", "rlm2", "rl", "a", "//", "__proto__", 'x\\y"z'), fc.string());
const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const value = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar.map((item) => JSON.stringify(item)),
    fc.tuple(blank, fc.array(fc.tuple(tie("value"), blank)), fc.boolean()).map(([first, items, comma]) => {
      const text = items.map(([item, after]) => `${item}${after}`).join(",");
      return `[${first}${text}${comma && items.length > 0 ? "," : ""}]`;
    }),
    tie("object"),
  ),
  object: fc
    .tuple(
      blank,
      fc.uniqueArray(fc.tuple(key, blank, tie("value"), blank, blank), { selector: ([name]) => name, maxLength: 5 }),
      fc.boolean(),
    )
    .map(([first, members, comma]) => {
      const parts = members.map(([name, a, item, b, c]) => `${c}${JSON.stringify(name)}${a}:${a}${item}${b}`);
      return `{${first}${parts.join(",")}${comma && members.length > 0 ? "," : ""}${first}}`;
    }),
})).object;
const documents = fc
  .tuple(blank, value, blank)
  .map(([before, text, after]) => `${before}${text}${after}`)
  .filter((text) => {
    const servers = valuesOf(text)["mcpServers"];
    return servers === undefined || (typeof servers === "object" && servers !== null && !Array.isArray(servers));
  });

describe("for any document", () => {
  test("values are parsed like JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (json, indent) => {
        const text = JSON.stringify(json, null, indent);
        expect(parseJSONC(text)?.value).toEqual(JSON.parse(text));
      }),
    );
  });

  test("put() changes nothing else and is idempotent", () => {
    fc.assert(
      fc.property(documents, (text) => {
        const after = JSONC.put(text, ENTRY_PATH, WANTED);
        const { mcpServers: servers = {}, ...others } = valuesOf(text);
        expect(parseJSONC(after)?.value).toEqual({ ...others, mcpServers: { ...servers, rlm: ENTRY } });
        expect(isSubsequence(text, after)).toBe(true);
        expect(JSONC.put(after, ENTRY_PATH, WANTED)).toBe(after);
      }),
      { numRuns: 300 },
    );
  });

  test("remove() restores the text, except for an empty table of servers", () => {
    fc.assert(
      fc.property(documents, (text) => {
        const servers = valuesOf(text)["mcpServers"];
        const after = JSONC.remove(JSONC.put(text, ENTRY_PATH, WANTED), ENTRY_PATH);
        const isEmptied = Object.keys(servers ?? { some: 1 }).length === 0 || parseJSONC(text)?.members?.length === 0;
        if (!isEmptied) expect(after).toBe(text);
        else expect(isSubsequence(withoutSpace(after), withoutSpace(text))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

function valuesOf(text: string): Record<string, object> {
  const root = parseJSONC(text) ?? { value: {} };
  return root.value as Record<string, object>;
}

/** Whether one text is a subsequence of the other: nothing was lost or moved. */
function isSubsequence(short: string, long: string): boolean {
  let at = 0;
  for (let index = 0; index < long.length; index += 1)
    if (at < short.length && long.charAt(index) === short.charAt(at)) at += 1;
  return at === short.length;
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, "");
}
