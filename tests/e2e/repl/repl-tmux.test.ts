/* oxlint-disable no-control-regex -- colours of a terminal */
// The console as a user sees it, in a real terminal.

/** @module-tag stress */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { textWidth } from "../../../src/util/text/text-width.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { remove } from "../../remove.ts";
import { skipWithoutTmux, Tmux } from "./tmux.ts";

let folder: string;
beforeEach((context) => {
  skipWithoutTmux(context);
  folder = makeDataFolder();
});
afterEach(() => remove(folder));

async function open(size: { readonly columns?: number; readonly rows?: number } = {}): Promise<Tmux> {
  const terminal = new Tmux(["repl"], { folder, ...size });
  await terminal.until(/>>>$/);
  return terminal;
}

async function enter(terminal: Tmux, line: string, expected: RegExp): Promise<void> {
  terminal.type(line);
  terminal.press("Enter");
  await terminal.until(expected);
}

describe("in tmux", () => {
  test("values, timing, sources and numbers are shown", async () => {
    await using terminal = await open();
    await enter(terminal, "def twice(n): return 2 * n", /return 2 \* n\n>>>$/);
    await enter(
      terminal,
      "{'名前': ['漢字'] * 12, 'n': twice(21)}",
      /\n\{'名前': \['漢字',[^]*'漢字'\],\n 'n': 42\}\n>>>$/,
    );
    for (const line of terminal.screen.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(80);
    await enter(terminal, "twice??", /\ndef twice\(n\): return 2 \* n\n>>>$/);
    await enter(
      terminal,
      "%timeit -n 9 -r 2 twice(4)",
      / per loop \(mean ± std\. dev\. of 2 runs, 9 loops each\)\n>>>$/,
    );
    await enter(terminal, "Out[2]['n']", /\n42\n>>>$/);
    await enter(terminal, ":history 2", /\n\[[\d-]\] %timeit [^\n]*\n\[\d\] Out\[2\]\['n'\]\n>>>$/);
  });

  test("a suggestion is grey; Right accepts it, and nothing of it stays when it is not accepted", async () => {
    await using terminal = await open({ columns: 40 });
    await enter(terminal, "wonderful = '漢字'", /'漢字'\n>>>$/);
    terminal.type("won");
    await terminal.until(/>>> wonderful = '漢字'$/);
    expect(terminal.colours).toMatch(/won\u001B\[90mderful = '漢字'/);
    terminal.press("M-f");
    await expect.poll(() => terminal.colours).toMatch(/wonderful\u001B\[90m = '漢字'/);
    terminal.press("Enter");
    await terminal.until(/>>> wonderful\n'漢字'\n>>>$/);
    terminal.type("wonderful =");
    await terminal.until(/wonderful = '漢字'$/);
    terminal.press("Right", "C-a");
    terminal.type("very_");
    terminal.press("Enter");
    await enter(
      terminal,
      "very_wonderful * 2",
      />>> very_wonderful = '漢字'\n>>> very_wonderful \* 2\n'漢字漢字'\n>>>$/,
    );
  });

  test.each([
    ["marks pastes", true],
    ["does not mark them", false],
  ])("a block is pasted as it is where the terminal %s", async (_, marked) => {
    await using terminal = await open({ columns: 60, rows: 30 });
    const block =
      "def f(n):\n    total = 0\n\n    for i in range(n):\n        total += i\n\n    return total\n\nprint('sum', f(5))";
    terminal.paste(block, { marked });
    const shown = block.replaceAll("\n", "\n... ").replaceAll(/ +$/gm, "");
    await expect.poll(() => terminal.screen).toContain(`>>> ${shown}`);
    expect(terminal.screen).not.toContain("sum 10");
    terminal.press("Enter");
    await terminal.until(/\nsum 10\n>>>$/);
  });

  test("a narrow terminal wraps what is typed and what is shown", async () => {
    await using terminal = await open({ columns: 24, rows: 30 });
    await enter(
      terminal,
      "[{'k': n, '値': '漢字'} for n in range(2)]",
      /\n\[\{'k': 0, '値': '漢字'\},\n \{'k': 1, '値': '漢字'\}\]\n>>>$/,
    );
  });
});
