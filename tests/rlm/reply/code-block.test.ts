import { spawnSync } from "node:child_process";
import type { FinishReason } from "../../../src/protocol/usage.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CodeScanner, type ScanEnd } from "../../../src/rlm/reply/code-block.ts";
import { PYTHON } from "../../open.ts";

/** Whether Python compiles it. */
function isComplete(code: string): boolean {
  return (
    spawnSync(PYTHON, ["-I", "-S", "-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: code }).status === 0
  );
}

async function scan(message: string, finishReason: FinishReason = "stop"): Promise<ScanEnd> {
  const scanner = new CodeScanner(isComplete);
  const block = scanner.push(message);
  return block === undefined ? scanner.end(finishReason) : { kind: "code", block };
}

async function codeOf(message: string, finishReason?: FinishReason): Promise<string | undefined> {
  const end = await scan(message, finishReason);
  return end.kind === "code" ? end.block.code : undefined;
}

describe("CodeScanner", () => {
  test.each([
    ["repl", "```repl\nprint(1)\n```", "print(1)"],
    ["python", "```python\nprint(1)\n```", "print(1)"],
    ["py", "```py\nx = 1\nprint(x)\n```", "x = 1\nprint(x)"],
    ["python3", "```python3\nprint(1)\n```", "print(1)"],
    ["ipython", "```ipython\nprint(1)\n```", "print(1)"],
    ["no tag", "```\nprint('no tag')\n```", "print('no tag')"],
    ["a tag in capitals and with more behind it", '``` Python title="x"\nprint(1)\n```', "print(1)"],
    ["a tag in braces", "```{python}\nprint(1)\n```", "print(1)"],
    ["tildes", "~~~python\nprint('```')\n~~~", "print('```')"],
    ["a longer fence", "`````repl\nprint(1)\n`````", "print(1)"],
    ["a closing fence that is longer", "```repl\nprint(1)\n``````", "print(1)"],
    ["spaces before and after fences", "  ```repl  \n  print(1)\n   ```  ", "print(1)"],
    ["lines that end as on Windows", "```repl\r\nx = 1\r\nprint(x)\r\n```\r\n", "x = 1\nprint(x)"],
    ["text before", "I look first.\n\n```python\nprint('hello')\n```", "print('hello')"],
    ["text after", "```python\nprint(1)\n```\nsome text after it", "print(1)"],
    ["several blocks: the first", "```repl\na = 1\n```\nthen\n```repl\nb = 2\n```", "a = 1"],
    ["a block of another language before it", '```json\n{"a": 1}\n```\n\n```python\nprint(1)\n```', "print(1)"],
    ["an empty block before it", "```python\n\n```\n```python\nprint(1)\n```", "print(1)"],
    ["a decorative outer fence", "```\n```python\nprint(1)\n```\n```", "print(1)"],
    ["a decorative outer fence, none with a tag", "```\n```\nprint(2)\n```\n```", "print(2)"],
    ["a decorative outer fence that is longer", "````\n```python\nprint(1)\n```\n````", "print(1)"],
    [
      "a list item",
      "1. Look:\n\n    ```python\n    for x in a:\n        print(x)\n    ```",
      "for x in a:\n    print(x)",
    ],
    ["the line of a list item", "- ```python\n  if a:\n      b()\n  ```", "if a:\n    b()"],
    ["a list item whose code is not indented", "   ```python\nif a:\n    b()\n   ```", "if a:\n    b()"],
    ["tabs", "\t```python\n\tif a:\n\t\tb()\n\t```", "if a:\n\tb()"],
    ["empty lines within", "```repl\na = 1\n\n\nb = 2\n```", "a = 1\n\n\nb = 2"],
    ["a forgotten closing fence", "```python\nprint(1)\n\n```python\nprint(2)\n```", "print(1)\n"],
    ["a syntax error, which Python reports", "```python\nprint(\n```", "print("],
  ])("finds the code with %s", async (_, message, code) => {
    expect(await codeOf(message)).toBe(code);
    expect(await codeOf(`${message}\n`)).toBe(code);
  });

  test.each([
    ["in a string on one line", "md = '''```'''\nprint(md)"],
    ["in a string of several lines", "md = '''\n```\ntext\n```\n'''\nprint(md)"],
    ["with a tag, in a string", 'md = """\n```python\nx = 1\n```\n"""\nprint(md)'],
    ["in a docstring", 'def f():\n    """\n    ```\n    f()\n    ```\n    """'],
    ["after quotes that open nothing", "a = \"'''\"  # it's '''\nb = 'it\\'s'\nmd = r'''\\'''\n```\n'''"],
  ])("does not take a fence %s for the end", async (_, code) => {
    expect(await codeOf(`\`\`\`repl\n${code}\n\`\`\`\nand then`)).toBe(code);
  });

  test("ends at a fence inside a string that is never closed, so that Python reports the error", async () => {
    expect(await codeOf("```repl\nprint('''a)\n```\nOutput: a")).toBe("print('''a)");
    expect(await scan("```repl\nmd = '''\n```\nmore", "length")).toMatchObject({ kind: "none", reason: "cut-off" });
  });

  test("returns a block as soon as its closing line has arrived, with its span in the message", () => {
    const scanner = new CodeScanner(isComplete);
    const pieces = ["Look", ":\n``", "`repl\npri", "nt(1)\n", "```", "\nOutput: 1\n```repl\n"];
    const blocks = pieces.map((piece) => scanner.push(piece));
    const block = { code: "print(1)", tag: "repl", start: 6, end: 27 };
    expect(blocks).toEqual([undefined, undefined, undefined, undefined, undefined, block]);
    expect(pieces.join("").slice(block.start, block.end)).toBe("```repl\nprint(1)\n```\n");
    expect(scanner.push("x\n```\n")).toEqual(block);
  });

  test("accepts an unclosed block only where it parses and was not cut off", async () => {
    expect(await codeOf("```python\nprint('oops')")).toBe("print('oops')");
    expect(await scan("```python\nprint('oops')", "length")).toEqual({
      kind: "none",
      reason: "cut-off",
      hint: "Nothing was run: your message reached its limit of tokens in the middle of the code. Do it in smaller steps",
    });
    expect(await scan("```python\nfor x in")).toMatchObject({ kind: "none", reason: "unclosed" });
    expect(await codeOf("```python\nmd = '''\n```\n'''\nprint(md)")).toBe("md = '''\n```\n'''\nprint(md)");
  });

  test("accepts a closing fence at the end of a line of code where the code parses", async () => {
    expect(await codeOf("```repl\nx = 1\nprint(x)```")).toBe("x = 1\nprint(x)");
    expect(await codeOf("```repl\nprint(x)```\nThen we see.")).toBe("print(x)");
    expect(await scan("```repl\nprint(```\nThen we see.")).toMatchObject({ kind: "none", reason: "unclosed" });
  });

  test.each([
    [
      "```json\n{}\n```",
      "data",
      "Nothing was run: a block tagged 'json' is not run. If it is your answer, give it with",
    ],
    ["```bash\nls", "not-runnable", "Nothing was run: a block tagged 'bash' is not run."],
    ["````markdown\n```python\nx\n```\n````", "data", "tagged 'markdown'"],
    ["```python\n\n```", "empty", "Nothing was run: the block of code is empty."],
    ["```python\n", "empty", "Nothing was run: the block of code is empty."],
    ["The answer is 42.", "no-code", "Nothing was run: your message has no block of code."],
    ["", "no-code", "Nothing was run: your message has no block of code."],
    ["`print(1)` and ```print(2)``` in a line", "no-code", "Nothing was run"],
  ])("has a hint for the model where nothing is run: %j", async (message, reason, hint) => {
    expect(await scan(message)).toEqual({ kind: "none", reason, hint: expect.stringContaining(hint) });
  });

  test("says that a message without code was cut off", async () => {
    expect(await scan("Let me think", "length")).toMatchObject({ reason: "cut-off" });
  });

  test("finds the same block however the message is split", async () => {
    const line = fc.constantFrom(
      "```",
      "```python",
      "```json",
      "~~~",
      "````",
      "  ```repl",
      "print(1)",
      "  x = 1",
      "'''",
      "text it's",
      "x```",
      "",
      "é漢👋\r",
    );
    const message = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(message, fc.array(fc.nat({ max: 7 })), fc.boolean(), async (text, sizes, parses) => {
        const whole = new CodeScanner(() => parses);
        const expected = whole.push(text) ?? (await whole.end("stop"));
        const pieces = new CodeScanner(() => parses);
        let from = 0;
        for (const size of sizes) pieces.push(text.slice(from, (from += size)));
        const found = pieces.push(text.slice(from)) ?? (await pieces.end("stop"));
        expect(found).toEqual(expected);
        if ("code" in found) {
          expect(found.start).toBeLessThan(found.end);
          expect(found.end).toBeLessThanOrEqual(text.length);
          expect(found.code.trim()).not.toBe("");
        }
      }),
      { numRuns: 500 },
    );
  });

  // Each of these would take minutes in quadratic time.
  test.each([
    ["spaces", ""],
    ["spaces after a tag", "```repl"],
    ["spaces after a closing fence", "```repl\nprint(1)\n```", "print(1)"],
    ["spaces after text", "Here:"],
    ["spaces after list markers", "- - "],
  ])("takes linear time for a line of %s", async (_, before, code?: string) => {
    expect(await codeOf(`${before}${" ".repeat(400_000)}x`, "length")).toBe(code);
  });
});
