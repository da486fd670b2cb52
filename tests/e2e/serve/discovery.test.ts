import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { remove } from "../../remove.ts";
import { rlm, start, type Program } from "../program.ts";
import { TestTerminal } from "../terminal.ts";

interface Data extends Disposable {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Its servers make and store a token. */
function openData(): Data {
  const folder = makeDataFolder();
  const env = { RLM_DATA: folder, RLM_TOKEN: "", RLM_URL: "", NO_COLOR: "1" };
  return { folder, env, [Symbol.dispose]: () => remove(folder) };
}

async function serve({ env, folder }: Data): Promise<{ readonly program: Program; readonly url: string }> {
  const program = start(["serve", "--port", "0"], { env, cwd: folder });
  const [, url = ""] = await program.until(/^listening (http:\S+)\n/);
  return { program, url };
}

const notes = ({ folder }: Data): string[] => {
  const running = join(folder, "server", "running");
  return existsSync(running) ? readdirSync(running) : [];
};

test("commands find the server on whatever port it listens, and say where there is none", async () => {
  using data = openData();
  const none = {
    code: 70,
    stdout: "",
    stderr:
      "rlm: no server runs on this machine. Start one with 'rlm serve', or set RLM_URL to the address of another\n",
  };
  expect(await rlm(["sessions"], data)).toEqual(none);
  const { program } = await serve(data);
  await using _ = program;
  expect(await rlm(["sessions", "open", "--id", "found"], data)).toEqual({ code: 0, stdout: "found\n", stderr: "" });
  expect((await rlm(["sessions", "ls"], data)).stdout).toMatch(/^ID[^\n]*\nfound /);
  const ids = await rlm(["complete-ids", "sessions", "--limit", "60"], data);
  expect(ids).toEqual({ code: 0, stdout: "found\n", stderr: "" });
  expect(await rlm(["tasks", "ls"], data)).toEqual({ code: 0, stdout: "there are no tasks\n", stderr: "" });
  expect(await rlm(["run", "Why?", "--server"], data)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no model/),
  });
  const task = (await rlm(["tasks", "start", "--", "echo 'a command that is longer than a line'"], data)).stdout.trim();
  for (const columns of [80, 60]) {
    for (const [command, id] of [
      ["sessions", "found"],
      ["tasks", task],
    ] as const) {
      await using terminal = new TestTerminal([command], { env: data.env, columns });
      await terminal.ended;
      const lines = terminal.raw.trimEnd().split("\r\n");
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(lines.map((line) => line.split(" ")[0])).toContain(id);
      expect(lines[0]).toMatch(/^ID +(?:STATE|KIND|STATUS) /);
    }
  }
  program.signal("SIGTERM");
  expect(await program.exit).toEqual({ code: 0 });
  expect(notes(data)).toEqual([]);
  expect(await rlm(["tasks"], data)).toEqual(none);
});

test("of several servers the newest is used, and the others are named", { tags: "stress" }, async () => {
  using data = openData();
  const first = await serve(data);
  await using _first = first.program;
  const second = await serve(data);
  await using _second = second.program;
  const { code, stderr } = await rlm(["sessions"], data);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `rlm: 2 servers run on this machine. This is the newest, ${second.url}. Set RLM_URL to use another: ${first.url}\n`,
  });
  expect(await rlm(["sessions"], { env: { ...data.env, RLM_URL: first.url } })).toMatchObject({ code: 0, stderr: "" });
});

test("the note of a killed server is ignored and removed", async () => {
  using data = openData();
  const { program, url } = await serve(data);
  program.signal("SIGKILL");
  await program.exit;
  expect(notes(data)).toHaveLength(1);
  expect(await rlm(["sessions"], data)).toMatchObject({ code: 70, stderr: expect.stringMatching(/no server runs/) });
  expect(notes(data)).toEqual([]);
  expect(await rlm(["sessions"], { env: { ...data.env, RLM_URL: url } })).toMatchObject({
    code: 70,
    stderr: expect.stringContaining(`no server listens at ${url}`),
  });
});

test("a server that was started with RLM_TOKEN is found, and says that it needs the token", async () => {
  using data = openData();
  await using program = start(["serve", "--port", "0"], { env: { ...data.env, RLM_TOKEN: "own" }, cwd: data.folder });
  await program.until(/^listening/);
  expect(await rlm(["sessions"], data)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/was started with RLM_TOKEN: set RLM_TOKEN/),
  });
  expect(await rlm(["sessions"], { env: { ...data.env, RLM_TOKEN: "own" } })).toMatchObject({ code: 0 });
});

interface Trap extends AsyncDisposable {
  readonly url: string;
  /** The headers with tokens that it got. */
  readonly seen: readonly unknown[];
}

/** A server of another user of this machine. */
async function openTrap(port: number): Promise<Trap> {
  const seen: unknown[] = [];
  const trap = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end("{}");
  });
  process.seteuid?.(65_534);
  try {
    await new Promise<void>((resolve, reject) => trap.once("error", reject).listen(port, "127.0.0.1", resolve));
  } finally {
    process.seteuid?.(0);
  }
  const { port: own } = trap.address() as { port: number };
  const close = (): Promise<void> => new Promise((resolve) => trap.close(() => resolve()));
  return { url: `http://127.0.0.1:${own}`, seen, [Symbol.asyncDispose]: close };
}

test.skipIf(process.getuid?.() !== 0)("a port that another user has taken gets no token", async () => {
  using data = openData();
  const { program } = await serve(data); // stores a token
  program.signal("SIGTERM");
  await program.exit;
  await using trap = await openTrap(0);
  const env = { ...data.env, RLM_URL: trap.url };
  expect(await rlm(["sessions"], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/used by another user \(id 65534\)/),
  });
  expect(trap.seen).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)(
  "nor does one that is taken while a command waits for its server",
  { tags: "stress" },
  async () => {
    using data = openData();
    const { program, url } = await serve(data);
    await rlm(["sessions", "open", "--id", "long"], data);
    await using command = start(
      ["sessions", "exec", "long", "-c", "print('runs')\nimport time; time.sleep(600)"],
      data,
    );
    await command.until(/runs/);
    program.signal("SIGKILL");
    await program.exit;
    await using trap = await openTrap(Number(new URL(url).port));
    expect(await command.ended).toMatchObject({ stderr: expect.stringMatching(/used by another user \(id 65534\)/) });
    expect(trap.seen).toEqual([]);
  },
);
