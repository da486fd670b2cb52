import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContextFacts } from "../../../src/protocol/worker/context-facts.ts";
import { describeContext } from "../../../src/rlm/context/describe-context.ts";

describe("describeContext()", () => {
  test("has the name, type, size, beginning and end of each variable", () => {
    const text = describeContext(
      [
        {
          name: "context",
          type: "str",
          length: 104_857_600,
          head: 'It was\n"dark"',
          tail: "the end.\n",
        },
        { name: "records", type: "list", length: 1, head: "[{'id': 1}]", isWhole: true },
        { name: "many", type: "list", length: 5000, head: "[1, 2" },
        { name: "files", type: "dict", length: 1200, columns: ["a.txt", "b.txt"] },
        { name: "blob", type: "bytes", length: 12 },
        { name: "nothing", type: "NoneType" },
      ],
      6_000,
    );
    expect(text).toBe(
      [
        "- `context`: str, 104,857,600 characters",
        String.raw`  begins "It was\n\"dark\""`,
        String.raw`  ends "the end.\n"`,
        "- `records`: list, 1 item",
        `  is "[{'id': 1}]"`,
        "- `many`: list, 5,000 items",
        '  begins "[1, 2"',
        '- `files`: dict, 1,200 items, keys "a.txt", "b.txt" and 1,198 more',
        "- `blob`: bytes, 12 bytes",
        "- `nothing`: NoneType",
      ].join("\n"),
    );
  });

  test("shows the beginning and end of long values", () => {
    const text = describeContext(
      [{ name: "context", type: "str", length: 9000, head: `a${"x".repeat(8998)}b`, isWhole: true }],
      6_000,
    );
    expect(text).toMatch(/^- `context`: str, 9,000 characters\n {2}begins "ax+"\n {2}ends "x+b"$/);
    expect(text.length).toBeLessThan(1100);
    expect(text.length).toBeGreaterThan(1000);
  });

  test("names keys and variables while there is space, and counts the others", () => {
    const columns = Array.from({ length: 35 }, (_, index) => `c${index}`);
    expect(describeContext([{ name: "t", type: "dict", columns }], 6_000)).toMatch(/"c29" and 5 more$/);
    const many = Array.from({ length: 2_000 }, (_, index) => ({ name: `v${index}`, type: "str", length: index }));
    const lines = describeContext(many, 1_000).split("\n");
    expect(lines.at(-1)).toBe(
      `… and ${(2_001 - lines.length).toLocaleString("en-US")} more variables; SHOW_VARS() lists them`,
    );
  });

  test("has what is in lists and dicts: how much in all, of what kinds, the largest, and what items are like", () => {
    const contents = {
      characters: 48_000_000,
      bytes: 0,
      isWhole: true,
      kinds: [{ what: "str", count: 20_000 }],
      endings: [
        { what: ".py", count: 13_333 },
        { what: ".md", count: 6_667 },
      ],
      largest: { key: "a/b.py", size: 5_000 },
    };
    const files = { name: "context", type: "dict", length: 20_000, columns: ["a/b.py"], contents };
    expect(describeContext([files], 2_000, new Map([["context", "src"]]))).toBe(
      '- `context`: dict, 20,000 items, the files of the folder "src", 48,000,000 characters in all, 13,333 .py, 6,667 .md, ' +
        'the largest "a/b.py" has 5,000, keys "a/b.py" and 19,999 more',
    );
    const kinds = [
      { what: "dict", count: 4 },
      { what: "NoneType", count: 1 },
    ];
    const shape = 'the first like {"id": int}';
    const records = { characters: 1, bytes: 5, isWhole: false, kinds, endings: [], largest: { size: 3 }, shape };
    expect(describeContext([{ name: "records", type: "list", length: 5, contents: records }], 2_000)).toBe(
      "- `records`: list, 5 items, at least 1 character and 5 bytes in all, 4 dict and 1 NoneType, the largest has 3, " +
        'the first like {"id": int}',
    );
  });

  test("leaves out what does not fit, and names fewer keys, but never the variable", () => {
    const columns = Array.from({ length: 50 }, (_, index) => `${"long/".repeat(18)}${index}`);
    const shape = `each like {${"x".repeat(300)}}`;
    const contents = { characters: 7, bytes: 0, isWhole: true, kinds: [], endings: [], shape };
    const text = describeContext([{ name: "context", type: "dict", length: 50, columns, contents }], 500);
    expect(text).toMatch(/^- `context`: dict, 50 items, 7 characters in all, keys "(?:long\/)+0" and 49 more$/);
  });

  test("has a limited size, splits no character and keeps every text on its line, whatever the facts are", () => {
    const wild = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.string().map((text) => text.repeat(200)),
    );
    const facts: fc.Arbitrary<ContextFacts> = fc.record(
      {
        name: wild,
        type: fc.oneof(wild, fc.constantFrom("str", "bytes", "list")),
        length: fc.nat(),
        columns: fc.array(wild, { maxLength: 50 }),
        contents: fc.record(
          {
            characters: fc.nat(),
            bytes: fc.nat(),
            isWhole: fc.boolean(),
            kinds: fc.array(fc.record({ what: wild, count: fc.nat() }), { maxLength: 5 }),
            endings: fc.array(fc.record({ what: wild, count: fc.nat() }), { maxLength: 7 }),
            largest: fc.record({ key: wild, size: fc.nat() }, { requiredKeys: ["size"] }),
            shape: wild,
          },
          { requiredKeys: ["characters", "bytes", "isWhole", "kinds", "endings"] },
        ),
        head: wild,
        tail: wild,
        isWhole: fc.boolean(),
      },
      { requiredKeys: ["name", "type"] },
    );
    fc.assert(
      fc.property(
        fc.array(facts, { maxLength: 20 }),
        fc.integer({ min: 500, max: 8_000 }),
        (variables, maxCharacters) => {
          const text = describeContext(variables, maxCharacters);
          expect(text.length).toBeLessThanOrEqual(maxCharacters);
          expect(text).not.toMatch(/\p{Surrogate}/u);
          for (const line of text === "" ? [] : text.split(/[\n\r\u0085\u2028\u2029\v\f]/u)) {
            expect(line).toMatch(/^(?:- `[^`]*`: | {2}(?:begins|ends|is) "|… and )/);
          }
        },
      ),
    );
  });
});
