import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMAND, rlm, shell, start } from "../program.ts";
import { startServing, type Serving } from "../serving.ts";
import { TestTerminal } from "../terminal.ts";

let server: Serving;
beforeAll(async () => {
  server = await startServing();
});
afterAll(() => server[Symbol.asyncDispose]());

async function open(...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await server.rlm(["sessions", "open", ...options]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim();
}

describe("rlm sessions", () => {
  test("opens, lists, shows and closes", async () => {
    const id = await open("--id", "work", "-e", "COLOUR=red");
    await server.rlm(["sessions", "exec", id, "-c", "import os; colour = os.environ['COLOUR']"]);
    const listed = await server.rlm(["sessions"]);
    expect(listed.stdout).toMatch(
      /^ID +STATE +ENVIRONMENT +EXECUTIONS +MEMORY +AGE +IDLE\n(?:.*\n)*work +idle +local, \S+ +1 +[\d.]+ MiB +\d+ s +\d+ s\n/,
    );
    const shown = await server.rlm(["sessions", "show", id]);
    expect(shown.stdout).toMatch(
      /^id +work\nstate +idle\nenvironment +local, \S+\ncapabilities +fork yes, .*\n[\s\S]*executions +1\n[\s\S]*variables +os, colour\n$/,
    );
    expect(await server.rlm(["sessions", "close", id])).toEqual({
      code: 0,
      stdout: "work closed after 1 execution\n",
      stderr: "",
    });
  });

  test("--json prints the server's response and nothing else", async () => {
    const id = await open();
    const list = JSON.parse((await server.rlm(["sessions", "--json"])).stdout) as { sessions: { id: string }[] };
    expect(list.sessions.map((one) => one.id)).toContain(id);
    const parsed = async (...args: string[]) => JSON.parse((await server.rlm(["sessions", ...args])).stdout) as unknown;
    expect(await parsed("show", id, "--json")).toMatchObject({ id, stdlib: expect.any(Object) });
    expect(await parsed("interrupt", id, "--json")).toEqual({ interrupted: null, hasEnded: true, state: null });
    expect(await parsed("exec", id, "--json", "-c", "print(1); 2")).toMatchObject({
      stdout: "1\n",
      value: { "text/plain": "2" },
    });
    expect(await parsed("close", id, "--json")).toMatchObject({ sessions: [{ id, state: "closed" }] });
  });

  test("a failure to close one does not keep the others open", async () => {
    const [one, two] = [await open(), await open()];
    const { code, stdout, stderr } = await server.rlm(["sessions", "close", one, "nope", two]);
    expect({ code, lines: stdout.split("\n").length }).toEqual({ code: 2, lines: 3 });
    expect(stderr).toMatch(/^rlm: cannot find session 'nope'/);
  });
});

describe("rlm sessions exec", () => {
  let id: string;
  beforeAll(async () => {
    id = await open();
  });
  const exec = (...args: string[]) => server.rlm(["sessions", "exec", id, ...args]);

  test("keeps state from one call to the next, with the exit codes of rlm exec", async () => {
    expect(await exec("-c", "x = 3")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await exec("-c", "import sys; print(x); print('e', file=sys.stderr); sys.exit(x)")).toEqual({
      code: 3,
      stdout: "3\n",
      stderr: "e\n",
    });
    expect(await exec("-c", "x / 0")).toMatchObject({ code: 1, stderr: expect.stringContaining("ZeroDivisionError") });
    expect(await exec("-c", "while True: pass", "--timeout", "0.3")).toMatchObject({
      code: 124,
      stderr: expect.stringMatching(/KeyboardInterrupt[\s\S]*rlm: stopped at the time limit/),
    });
    expect(await exec()).toMatchObject({ code: 2, stderr: expect.stringContaining("rlm sessions exec --help") });
    expect(await rlm(["sessions", "exec", "nope", "-c", "1"], { env: server.env })).toMatchObject({
      code: 2,
      stdout: "",
    });
  });

  test("code comes from standard input, or reads it line by line", async () => {
    const args = ["sessions", "exec", id];
    expect(await server.rlm([...args, "-"], { stdin: "print('from stdin')" })).toMatchObject({
      stdout: "from stdin\n",
    });
    const read = "a = input('? ')\nb = input()\ntry:\n  input()\nexcept EOFError:\n  print([a, b])";
    expect(await server.rlm([...args, "-c", read], { stdin: "one\r\nzwei é" })).toEqual({
      code: 0,
      stdout: "? ['one', 'zwei é']\n",
      stderr: "",
    });
  });

  test("binary output is unchanged", async () => {
    const program = start(
      ["sessions", "exec", id, "-c", "import os; os.write(1, bytes([65, 255, 0, 254, 10]))"],
      server,
    );
    await program.ended;
    expect([...program.bytes("stdout")]).toEqual([65, 255, 0, 254, 10]);
  });

  test("Ctrl-C interrupts the code and keeps the state; another command can interrupt it, too", async () => {
    const running = start(["sessions", "exec", id, "-c", "y = 1; print('up', flush=True)\nwhile True: pass"], server);
    await running.until(/up/);
    running.signal("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130, stderr: expect.stringContaining("KeyboardInterrupt") });
    const other = start(["sessions", "exec", id, "-c", "print(y, flush=True)\nwhile True: pass"], server);
    await other.until(/1/);
    expect((await server.rlm(["sessions", "interrupt", id])).stdout).toMatch(/^\S+ interrupted, state kept\n$/);
    expect((await other.ended).code).toBe(130);
  });

  test("a command that is stopped leaves nothing running", async () => {
    const running = start(["sessions", "exec", id, "-c", "print('up', flush=True)\nwhile True: pass"], server);
    await running.until(/up/);
    running.signal("SIGTERM");
    expect((await running.ended).code).toBe(143);
    const state = async () => JSON.parse((await server.rlm(["sessions", "show", id, "--json"])).stdout) as object;
    await expect.poll(state).toMatchObject({ state: "idle" });
  });

  test("the code is stopped when the reader is gone", async () => {
    const env = Object.entries(server.env).map(([name, value]) => `${name}=${value}`);
    const line = `${env.join(" ")} ${COMMAND} sessions exec ${id} -c 'while True: print(1)'; echo $? >&2`;
    const { stdout, stderr } = await shell(`(${line}) | head -1`).ended;
    expect([stdout, stderr]).toEqual(["1\n", "141\n"]);
  });

  test("output cannot control the terminal", async () => {
    const code = String.raw`print("\033]0;title\007\033[31mred\033[0m")`;
    await using terminal = new TestTerminal(["sessions", "exec", id, "-c", code], server);
    await terminal.ended;
    expect(terminal.raw).toContain("\u001B[31mred");
    expect(terminal.raw).not.toContain("]0;title");
  });
});

test("an unknown command is reported with a suggestion", async () => {
  expect(await rlm(["sessions", "opne"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "rlm: unknown command 'opne'. Did you mean 'open'? Run 'rlm sessions --help'\n",
  });
});

describe("when the server is not as expected", () => {
  test("none is there", async () => {
    const { url, env, [Symbol.asyncDispose]: end } = await startServing();
    await end();
    expect(await rlm(["sessions"], { env })).toEqual({
      code: 70,
      stdout: "",
      stderr: `rlm: cannot reach ${url}: nothing listens there. Start a server with 'rlm serve', or check the address\n`,
    });
  });

  test("the token is wrong, and is not repeated", async () => {
    const { code, stderr } = await rlm(["sessions"], { env: { ...server.env, RLM_TOKEN: "not-this-one" } });
    const from = "(the address is from RLM_URL, the token from RLM_TOKEN)";
    expect([code, stderr]).toEqual([2, `rlm: the server at ${server.url} rejected the token ${from}\n`]);
  });

  test(
    "a server that is restarted while code runs is reported, and the next command works",
    { tags: "stress" },
    async () => {
      await using other = await startServing();
      const { stdout } = await other.rlm(["sessions", "open"]);
      const code = "print('up', flush=True)\nwhile True: pass";
      await using running = start(["sessions", "exec", stdout.trim(), "-c", code], other);
      await running.until(/up/);
      await other.restart();
      const ended = await running.ended;
      expect([ended.code, ended.stderr]).toEqual([
        70,
        expect.stringMatching(
          /^rlm: the connection to .* failed: trying again\n(?:.*\n)*rlm: .* before the code did.*\n$/,
        ),
      ]);
      expect((await other.rlm(["sessions"])).code).toBe(0);
    },
  );
});

describe("a reader that takes nothing", () => {
  test("of stdout does not hold up stderr, and gets everything in the end", { tags: "stress" }, async () => {
    const id = await open();
    const code = "import sys; print('x' * 20_000_000); print('done', file=sys.stderr, flush=True); 1 / 0";
    await using running = start(["sessions", "exec", id, "-c", code], { env: server.env, unread: true });
    await running.until(/done\n[\s\S]*ZeroDivisionError/, "stderr");
    running.readAll();
    const { code: exitCode, stdout } = await running.ended;
    expect([exitCode, stdout.length, stdout.slice(-3)]).toEqual([1, 20_000_001, "xx\n"]);
  });
});
