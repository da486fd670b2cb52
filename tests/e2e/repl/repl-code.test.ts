/* oxlint-disable no-control-regex -- colours of a terminal */
// The console with what users of IPython know: pretty values, sources, timing, numbered results, suggestions and pastes.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { remove } from "../../remove.ts";
import { rlm } from "../program.ts";
import { KEYS, TestTerminal } from "../terminal.ts";

let folder: string;
beforeEach(() => {
  folder = makeDataFolder();
});
afterEach(() => remove(folder));

interface Look {
  readonly columns?: number;
  readonly env?: Record<string, string>;
}

async function open({ columns = 80, env = { NO_COLOR: "1" } }: Look = {}): Promise<TestTerminal> {
  const terminal = new TestTerminal(["repl"], { env: { RLM_DATA: folder, ...env }, columns });
  await terminal.until(/>>>$/);
  return terminal;
}

async function enter(terminal: TestTerminal, line: string, expected: RegExp): Promise<string> {
  terminal.type(line + KEYS.enter);
  return terminal.until(expected);
}

describe("values", () => {
  test("are wrapped to the width of the terminal, also after a resize", async () => {
    await using terminal = await open({ columns: 30 });
    await enter(terminal, "list(range(12))", /\n\[0, 1, 2, 3, 4, 5, 6, 7, 8, 9,\n 10, 11\]\n>>>$/);
    await enter(terminal, "{'a': '漢字' * 5, 'b': [1]}", /\n\{'a': '漢字漢字漢字漢字漢字',\n 'b': \[1\]\}\n>>>$/);
    const before = terminal.raw.length;
    terminal.resize(60, 24);
    await expect.poll(() => terminal.raw.length).toBeGreaterThan(before); // the prompt was drawn again
    await enter(terminal, "list(range(13))", /\n\[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12\]\n>>>$/);
  });

  test(
    "that are huge or hostile are shortened, refused or interrupted, and the console continues",
    { tags: "stress" },
    async () => {
      await using terminal = await open();
      await enter(terminal, "list(range(10_000_000))", /\n 999, \.\.\. 9,999,000 more\]\n>>>$|9,999,000 more\]\n>>>$/);
      terminal.type(KEYS.paste("class Bad:\n    def __repr__(self): raise ValueError('no repr')\n\n"));
      await enter(terminal, "", /no repr'\)\n[^]*>>>$/);
      await enter(terminal, "[Bad()]", /ValueError: no repr\n>>>$/);
      terminal.type(
        KEYS.paste("class Endless:\n    def __repr__(self):\n        print('on')\n        while True: pass\n\n"),
      );
      await enter(terminal, "", /while True: pass\n[^]*>>>$/);
      await enter(terminal, "[Endless()]", /\non$/);
      terminal.type(KEYS.ctrlC);
      await terminal.until(/KeyboardInterrupt\n>>>$/);
      await enter(terminal, "1 + 1", /\n2\n>>>$/);
    },
  );

  test("keep their numbers in Out, and code in In", async () => {
    await using terminal = await open();
    await enter(terminal, "6 * 7", /\n42\n>>>$/);
    await enter(terminal, "'two'", /\n'two'\n>>>$/);
    await enter(terminal, "Out[1] + 1, In[2], _, __", /\n\(43, "'two'", 'two', 42\)\n>>>$/);
    await enter(terminal, "Out[99]", /KeyError: 'Out\[99\] is not there[^]*>>>$/);
    await enter(terminal, ":vars", /no variables\n>>>$/);
    await enter(terminal, ":reset", /files stay\n>>>$/);
    await enter(terminal, "len(Out)", /len\(Out\)\n0\n>>>$/);
  });

  test("on a pipe are plain, one per line", async () => {
    const { stdout } = await rlm(["repl"], { stdin: "list(range(60))\nOut[1][:2]\n", env: { RLM_DATA: folder } });
    expect(stdout).toBe(`[${Array.from({ length: 60 }, (_, index) => index).join(", ")}]\n[0, 1]\n`);
  });
});

describe("sources", () => {
  test("NAME?? shows that of a function or class, of the session and of a library", async () => {
    await using terminal = await open({ columns: 120 });
    terminal.type(KEYS.paste("class Shape:\n    sides = 3\n\n    def area(self):\n        return 1\n\n"));
    await enter(terminal, "", /return 1\n[^]*>>>$/);
    await enter(
      terminal,
      "Shape??",
      /<cell 1>, line 1\nclass Shape:\n {4}sides = 3\n\n {4}def area\(self\):\n {8}return 1\n>>>$/,
    );
    await enter(terminal, "??Shape.area", /<cell 1>, line 4\n {4}def area\(self\):\n {8}return 1\n>>>$/);
    await enter(terminal, "import textwrap", />>>$/);
    await enter(terminal, "textwrap.dedent??", /textwrap\.py:\d+\ndef dedent\(text\):\n[^]*>>>$/);
  });

  test("what has none is shown as NAME? does", async () => {
    await using terminal = await open();
    await enter(terminal, "numbers = [1, 2]", />>>$/);
    await enter(terminal, "numbers??", /type: list\nlength: 2\n[^]*>>>$/);
    await enter(terminal, "nobody??", /there is no 'nobody'\n>>>$/);
  });
});

describe("timing", () => {
  test("%time and %timeit measure a line, with the value of %time", async () => {
    await using terminal = await open();
    await enter(terminal, "%time 6 * 7", /CPU times: user [^\n]*\nWall time: [^\n]*\n42\n>>>$/);
    await enter(
      terminal,
      "%timeit -n 5 -r 2 sum(range(9))",
      / per loop \(mean ± std\. dev\. of 2 runs, 5 loops each\)\n>>>$/,
    );
    terminal.type(`%t${KEYS.tab}`);
    await terminal.until(/%time\n %time {4}%timeit$/);
  });

  test("%%time and %%timeit measure the lines up to an empty one", async () => {
    await using terminal = await open({ columns: 120 });
    await enter(terminal, "%%time", /%%time\n\.\.\.$/);
    await enter(terminal, "x = 6", /x = 6\n\.\.\.$/);
    await enter(terminal, "x * 7", /x \* 7\n\.\.\.$/);
    await enter(terminal, "", /Wall time: [^\n]*\n42\n>>>$/);
    const { stdout } = await rlm(["repl"], {
      stdin: "%%timeit -n 2 -r 1\nx = 1\nprint('run')\n\nprint('end')\n",
      env: { RLM_DATA: folder },
    });
    expect(stdout).toMatch(/^run\nrun\n[^\n]* per loop \(mean ± std\. dev\. of 1 run, 2 loops each\)\nend\n$/);
  });

  test("rlm exec has them too", async () => {
    const { code, stdout } = await rlm(["exec", "-c", "%time x = 5\nprint(x)"], { env: { RLM_DATA: folder } });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^CPU times: [^\n]*\nWall time: [^\n]*\n5\n$/)]);
  });
});

describe("the history", () => {
  test(":history shows the last inputs with their numbers, how many, and those that contain a text", async () => {
    {
      await using first = await open();
      await enter(first, "earlier = 1", />>>$/);
      first.type(KEYS.ctrlD);
      await first.ended;
    }
    await using terminal = await open();
    await enter(terminal, "x = 5", /x = 5\n>>>$/);
    terminal.type(KEYS.paste("for i in [1]:\n    print('row', i)\n\n"));
    await enter(terminal, "", /row 1\n>>>$/);
    await enter(
      terminal,
      ":history",
      /\n\[-\] earlier = 1\n\[1\] x = 5\n\[2\] for i in \[1\]:\n {8}print\('row', i\)\n>>>$/,
    );
    await enter(terminal, ":history 1", /:history 1\n:history\n>>>$/);
    await enter(terminal, ":history 5 EARL", /EARL\nearlier = 1\n>>>$/);
    await enter(terminal, ":history no such", /nothing in the history has 'no such'\n>>>$/);
    await enter(terminal, ":history 0", /give a number of entries that is not 0/);
  });

  test("is suggested in grey; Right accepts, Alt-F accepts a word, Enter runs what was typed", async () => {
    await using terminal = await open({ env: {} });
    await enter(terminal, "answer = 6 * 7", />>>$/);
    terminal.type("ans");
    await terminal.untilRaw(/ans\u001B\[90mwer = 6 \* 7\u001B\[0m/);
    terminal.type(KEYS.altF);
    await terminal.untilRaw(/answer\u001B\[90m = 6 \* 7/);
    terminal.type(`${KEYS.right} + 1${KEYS.enter}`);
    await terminal.until(/>>> answer = 6 \* 7 \+ 1\n>>>$/);
    await enter(terminal, "answer", />>> answer\n43\n>>>$/);
  });
});

describe("a pasted block that the terminal does not mark", () => {
  const lines = [
    "def f(n):",
    "    total = 0",
    "",
    "    for i in range(n):",
    "        total += i",
    "",
    "    return total",
    "",
  ];

  test("keeps its indentation and empty lines, and runs when Enter is pressed", async () => {
    await using terminal = await open();
    terminal.type([...lines, "print('sum', f(5))"].join(KEYS.enter));
    await terminal.until(/\n\.\.\. print\('sum', f\(5\)\)$/);
    expect(terminal.screen).toContain(
      "...     for i in range(n):\n...         total += i\n...\n...     return total\n",
    );
    expect(terminal.screen).not.toContain("sum 10");
    terminal.type(KEYS.enter);
    await terminal.until(/\nsum 10\n>>>$/);
  });

  test("may be longer than one read", async () => {
    await using terminal = await open();
    const count = 400;
    const long = Array.from({ length: count }, (_, index) => `    x${index} = ${index}\r\r`).join("");
    terminal.type(`def g():\r${long}    return x${count - 1}\r`);
    await terminal.until(new RegExp(`return x${count - 1}\\n\\.\\.\\.$`));
    await enter(terminal, "", /\n>>>$/);
    await enter(terminal, "g()", /\n399\n>>>$/);
  });

  test("is not what was typed ahead line by line", async () => {
    await using terminal = await open();
    terminal.type("x = 5\rx + 1\rx + 2\r");
    await terminal.until(/x = 5\n>>> x \+ 1\n6\n>>> x \+ 2\n7\n>>>$/);
  });

  test("answers one input() after the other", async () => {
    await using terminal = await open();
    await enter(terminal, "print(sorted(input(f'{i}? ') for i in range(3)))", /\n0\?$/);
    terminal.type("one\r  two\rthree\r");
    await terminal.until(/\[' {2}two', 'one', 'three'\]\n>>>$/);
  });
});
