import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { rlm } from "../program.ts";
import { KEYS, TestTerminal } from "../terminal.ts";
import { remove } from "../../remove.ts";

let folder: string;
beforeEach(() => {
  folder = makeDataFolder();
});
afterEach(() => remove(folder));

async function open(
  args: readonly string[] = [],
  { env = {}, ...size }: { env?: Record<string, string>; columns?: number; rows?: number } = {},
): Promise<TestTerminal> {
  const terminal = new TestTerminal(["repl", ...args], { env: { RLM_DATA: folder, NO_COLOR: "1", ...env }, ...size });
  await terminal.until(/>>> $|>>>$/);
  return terminal;
}

/** Types a line and waits for a pattern on the screen. */
async function enter(terminal: TestTerminal, line: string, expected: RegExp): Promise<string> {
  terminal.type(line + KEYS.enter);
  return terminal.until(expected);
}

describe("on a terminal", () => {
  test("shows a greeting and values, keeps state, and leaves with Ctrl-D", async () => {
    await using terminal = await open();
    expect(terminal.screen).toMatch(/^rlm \d+\.\d+\.\d+, Python 3\.\d+\.\d+, sandbox tier \w+\. :help lists commands/);
    await enter(terminal, "x = 41", />>> x = 41\n>>>$/);
    await enter(terminal, "x + 1", />>> x \+ 1\n42\n>>>$/);
    terminal.type(KEYS.ctrlD);
    expect(await terminal.ended).toBe(0);
  });

  test("code of several lines is typed with indentation, and an empty line ends it", async () => {
    await using terminal = await open();
    await enter(terminal, "def f(a):", /\n\.\.\.$/);
    await enter(terminal, "return a * 2", /return a \* 2\n\.\.\.$/);
    terminal.type(KEYS.enter);
    await terminal.until(/>>> def f\(a\):\n\.\.\. {5}return a \* 2\n\.\.\.\n>>>$/);
    await enter(terminal, "f(21)", /f\(21\)\n42\n>>>$/);
    await enter(terminal, "@staticmethod", /@staticmethod\n\.\.\.$/);
    terminal.type(KEYS.ctrlC);
    await terminal.until(/@staticmethod\n\.\.\. \^C\n>>>$/);
  });

  test("output is streamed, an error is a traceback, and unterminated output gets a newline", async () => {
    await using terminal = await open();
    await enter(terminal, "print('a'); print('b', end='')", /\na\nb\n>>>$/);
    await enter(terminal, "1/0", /Traceback[^]*ZeroDivisionError: division by zero\n>>>$/);
  });

  test("Ctrl-C interrupts the code and not the console, and the state is kept", async () => {
    await using terminal = await open();
    await enter(terminal, "x = 7", /x = 7\n>>>$/);
    await enter(terminal, "print('on'); exec('while True: pass')", /\non$/);
    terminal.type(KEYS.ctrlC);
    await terminal.until(/KeyboardInterrupt\n>>>$/);
    await enter(terminal, "x", />>> x\n7\n>>>$/);
  });

  test("code that does not stop is killed with a message, and the console continues", { tags: "stress" }, async () => {
    await using terminal = await open();
    await enter(terminal, "x = 7", /x = 7\n>>>$/);
    await enter(
      terminal,
      "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('deaf'); exec('while True: pass')",
      /\ndeaf$/,
    );
    terminal.type(KEYS.ctrlC);
    terminal.type(KEYS.ctrlC);
    await terminal.until(/within two seconds is ended/);
    await terminal.until(/The state is that of the last checkpoint\.\n>>>$/);
    await enter(terminal, "x", />>> x\n7\n>>>$/);
  });

  test("Ctrl-C clears the input", async () => {
    await using terminal = await open();
    terminal.type("nonsense(");
    await terminal.until(/nonsense\($/);
    terminal.type(KEYS.ctrlC);
    await terminal.until(/nonsense\(\^C\n>>>$/);
  });

  test("pasted code runs only when Enter is pressed", async () => {
    await using terminal = await open();
    terminal.type(KEYS.paste("for i in range(2):\n    print('row', i)\n\nprint('end')"));
    await terminal.until(/print\('end'\)$/);
    expect(terminal.screen).not.toContain("row 0");
    terminal.type(KEYS.enter);
    await terminal.until(/row 0\nrow 1\nend\n>>>$/);
  });

  test("input typed while code runs is kept", async () => {
    await using terminal = await open();
    await enter(terminal, "import time; print('begin'); time.sleep(0.3)", /\nbegin(\n>>>)?$/); // a slow terminal may show both together
    terminal.type(`1 + 2${KEYS.enter}`);
    await terminal.until(/>>> 1 \+ 2\n3\n>>>$/);
  });

  test("the next console has the history, and only the user can read it", async () => {
    {
      await using first = await open();
      await enter(first, "answer = 6 * 7", /\n>>>$/);
      await enter(first, "def g():", /\n\.\.\.$/);
      await enter(first, "return 1", /return 1\n\.\.\.$/);
      first.type(KEYS.enter);
      await first.until(/\.\.\.\n>>>$/);
      first.type(KEYS.ctrlD);
      await first.ended;
    }
    const file = join(folder, "repl", "history.jsonl");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await using second = await open();
    second.type(KEYS.up);
    await second.until(/>>> def g\(\):\n\.\.\. {5}return 1$/);
    second.type(`${KEYS.up}${KEYS.up}`);
    await second.until(/>>> answer = 6 \* 7$/);
    second.type(`${KEYS.ctrlC}${KEYS.ctrlR}def`);
    await second.until(/search: def/);
    second.type(`${KEYS.enter}${KEYS.enter}`);
    await second.until(/return 1\n>>>$/);
  });

  test("input() reads a line, a password is not echoed, Ctrl-D ends the input and Ctrl-C interrupts", async () => {
    await using terminal = await open();
    await enter(terminal, "print('hello'); name = input('who? ')", /hello\nwho\?$/);
    await enter(terminal, "Adda\u001B[D\u007F", /who\? Ada\n>>>$/);
    await enter(terminal, "name", /\n'Ada'\n>>>$/);
    await enter(terminal, "import getpass; len(getpass.getpass('pin: '))", /pin:$/);
    await enter(terminal, "geheim", /pin:\n6\n>>>$/);
    expect(terminal.raw).not.toContain("geheim");
    await enter(terminal, "input()", /input\(\)\n*$/);
    terminal.type(KEYS.ctrlD);
    await terminal.until(/EOFError: EOF when reading a line\n>>>$/);
    await enter(terminal, "input('wait ')", /wait$/);
    terminal.type(KEYS.ctrlC);
    await terminal.until(/wait(?: \^C)?\n[^]*KeyboardInterrupt\n>>>$/);
  });

  test("concurrent requests for input are answered one after the other, and output appears above the prompt", async () => {
    await using terminal = await open();
    const code = [
      "import threading, time",
      "answers = []",
      "threads = [threading.Thread(target=lambda i=i: answers.append((i, input(f'{i}? ')))) for i in range(2)]",
      "[t.start() for t in threads]",
      "time.sleep(0.3)",
      "print('meanwhile')",
      "[t.join() for t in threads]",
      "sorted(text for _, text in answers)",
    ];
    terminal.type(KEYS.paste(code.join("\n")));
    terminal.type(KEYS.enter);
    await terminal.until(/meanwhile/);
    terminal.type(`one${KEYS.enter}two${KEYS.enter}`);
    await terminal.until(/\['one', 'two'\]\n>>>$/);
  });

  test("Tab completes commands", async () => {
    await using terminal = await open();
    terminal.type(`:ti${KEYS.tab}`);
    await terminal.until(/>>> :time$/);
    terminal.type(KEYS.enter);
    await terminal.until(/nothing was run yet\n>>>$/);
    terminal.type(`:re${KEYS.tab}`);
    await terminal.until(/:rewind {3}:reset {4}:restart/);
  });

  test("wide characters, long lines and a resize keep the cursor in place", async () => {
    await using terminal = await open([], { columns: 30 });
    terminal.type("s = '漢字漢字漢字漢字漢字漢字漢字'");
    await terminal.until(/漢字'$/);
    terminal.resize(60, 24);
    terminal.type(`${KEYS.left}x`);
    await terminal.until(/漢字x'$/);
    terminal.type(KEYS.enter);
    await enter(terminal, "len(s)", /\n15\n>>>$/);
  });

  test("output cannot control the terminal, except for colours", async () => {
    await using terminal = await open();
    await enter(
      terminal,
      String.raw`print('\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x9b5n'); raise ValueError('\x1b[2Jbad')`,
      /bad\n>>>$/,
    );
    const shown = terminal.raw.slice(terminal.raw.lastIndexOf("\u001B[31mred"));
    expect(terminal.raw).toContain("\u001B[31mred");
    expect(terminal.raw).not.toContain("\u001B]0;title");
    expect(shown).not.toContain("\u001B[2J");
  });

  test("output of threads appears above the prompt", async () => {
    await using terminal = await open();
    await enter(terminal, "import threading; threading.Timer(0.3, lambda: print('from behind')).start()", />>>$/);
    terminal.type("half a lin");
    await terminal.until(/from behind\n>>> half a lin$/);
    terminal.type(`e${KEYS.ctrlC}`);
    await terminal.until(/half a line\^C/);
  });

  test("exit() leaves; sys.exit() in code does not", async () => {
    await using terminal = await open();
    await enter(terminal, "import sys; sys.exit(3)", /exit\(3\)\. The session goes on; :quit or Ctrl-D leaves\.\n>>>$/);
    terminal.type(`exit()${KEYS.enter}`);
    expect(await terminal.ended).toBe(0);
  });

  test("restores the terminal, also after a signal", async () => {
    await using terminal = await open();
    terminal.type(`:quit${KEYS.enter}`);
    await terminal.ended;
    expect(terminal.raw.endsWith("\u001B[?2004l\u001B[0m")).toBe(true);
  });

  test("a file is run first", async () => {
    const path = join(folder, "start.py");
    writeFileSync(path, "print('from', __file__[-8:])\ny = 5\n");
    await using terminal = await open([path]);
    expect(terminal.screen).toContain("from start.py");
    await enter(terminal, "y", /\n5\n>>>$/);
  });
});

describe("commands", () => {
  test("unknown ones list the commands; :help describes them", async () => {
    await using terminal = await open([], { rows: 50, columns: 120 });
    await enter(terminal, ":nope", /there is no :nope\. There are: :help :vars /);
    await enter(terminal, ":help", /:undo +take the last execution back[^]*Ctrl-D[^]*>>>$/);
  });

  test(":env sets variables of the session, :time shows the last execution, :reset empties the namespace", async () => {
    await using terminal = await open(["-e", "FROM=outside"]);
    await enter(terminal, ":env COLOUR='dark red'", />>>$/);
    await enter(terminal, "import os; os.environ['COLOUR'], os.environ['FROM']", /\('dark red', 'outside'\)\n>>>$/);
    await enter(terminal, ":env COLOUR=light blue", /give one KEY=VALUE; a value with spaces in quotes/);
    await enter(terminal, ":env", /\nCOLOUR=dark red\n>>>$/);
    await enter(terminal, ":time", /\d s, processor [\d.]+ s, memory at most \d+ MiB\n>>>$/);
    await enter(terminal, ":reset", /the namespace is empty; files stay\n>>>$/);
    await enter(terminal, "os", /NameError: name 'os' is not defined/);
  });

  test(":undo reverts executions, :checkpoint and :rewind save and restore", async () => {
    await using terminal = await open();
    await enter(terminal, "x = 1", />>>$/);
    await enter(terminal, "x = 2", /x = 2\n>>>$/);
    await enter(terminal, ":undo", /the last execution is undone; files are not touched\n>>>$/);
    await enter(terminal, "x", />>> x\n1\n>>>$/);
    await enter(terminal, ":checkpoint", /checkpoint c\d+; ':rewind c\d+' returns to it\n>>>$/);
    const [, id = ""] = /checkpoint (c\d+);/.exec(terminal.screen) ?? [];
    await enter(terminal, "x = lambda: 3", /lambda: 3\n>>>$/);
    await enter(terminal, ":rewind", new RegExp(`${id} +after execution \\d+, at [\\d:]+\\n[^]*>>>$`));
    await enter(
      terminal,
      `:rewind ${id.slice(1)}`,
      new RegExp(`the state is that of checkpoint ${id}; files are not touched\\n>>>$`),
    );
    await enter(terminal, "x + 10", /\n11\n>>>$/);
    await enter(terminal, ":rewind c99", /it does not exist, or is no longer kept/);
  });

  test(":fork copies the session and switches to it; :switch goes back; both are independent", async () => {
    await using terminal = await open();
    await enter(terminal, "gen = iter([1, 2, 3]); next(gen)", /\n1\n>>>$/);
    await enter(terminal, ":fork copy", /now in copy, a copy of s1; :switch s1 goes back\ncopy >>>$/);
    await enter(terminal, "next(gen)", /\n2\ncopy >>>$/);
    await enter(terminal, "input('? ')", /\?$/);
    await enter(terminal, "still asked", /\n'still asked'\ncopy >>>$/);
    await enter(terminal, ":switch nobody", /there is no session 'nobody'\. There are: s1 copy\ncopy >>>$/);
    await enter(terminal, ":sw\t s\t", /\ns1 >>>$/);
    await enter(terminal, "list(gen)", /\[2, 3\]\ns1 >>>$/);
    await enter(terminal, ":sessions", /\* s1 +\d+ executions[^\n]*\n {2}copy +\d+ executions/);
  });

  test(":restart opens a new session with the same id; :sessions lists it", async () => {
    await using terminal = await open();
    await enter(terminal, "x = 1; open('f', 'w').close()", />>>$/);
    await enter(terminal, ":restart", /session s1 is new\n>>>$/);
    await enter(terminal, "import os; 'x' in globals(), os.listdir()", /\(False, \[\]\)\n>>>$/);
    await enter(terminal, ":sessions", /\* s1 +1 executions, since \d\d:/);
  });
});

describe("without a terminal", () => {
  test("reads code with blocks from a pipe and prints values", async () => {
    const stdin = "x = 6\ndef f(y):\n    return x * y\nprint(f(7))\nf(2)\n1/0\nname = input('? ')\nAda\nname\n";
    const { code, stdout, stderr } = await rlm(["repl"], { stdin, env: { RLM_DATA: folder } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "42\n12\n? 'Ada'\n" });
    expect(stderr).toMatch(/ZeroDivisionError: division by zero\n$/);
    expect(stdout).not.toContain("\u001B");
  });

  test("incomplete code is an error; a dumb terminal gets no escape codes", async () => {
    const { stderr } = await rlm(["repl"], { stdin: "foo(\n", env: { RLM_DATA: folder } });
    expect(stderr).toContain("SyntaxError: '(' was never closed");
    await using terminal = await open([], { env: { TERM: "dumb" } });
    terminal.type("1 + 1\n");
    await terminal.until(/\n2\n>>>$/);
    expect(terminal.raw).not.toContain("\u001B");
  });

  test("wrong usage is refused before anything starts", async () => {
    expect(await rlm(["repl", "/no/such.py"])).toMatchObject({ code: 2, stdout: "" });
    expect(await rlm(["repl", "a.py", "b.py"])).toMatchObject({ code: 2 });
  });
});
