import { afterAll, beforeAll, expect, test } from "vitest";
import { startCuttingProxy } from "./cutting-proxy.ts";
import { rlm, start } from "../program.ts";
import { startServing, type Serving } from "../serving.ts";

let server: Serving;
beforeAll(async () => {
  server = await startServing();
});
afterAll(() => server[Symbol.asyncDispose]());

async function startTask(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await server.rlm(["tasks", "start", ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^t-[0-9a-f]{16}\n$/);
  return stdout.trim();
}

test("a task is started, followed, listed and shown", async () => {
  expect((await server.rlm(["tasks"])).stdout).toBe("there are no tasks\n");
  const id = await startTask("-e", "WHO=Ada", "--", 'echo "hi $WHO"; echo oops >&2; sleep 0.3; echo late; exit 3');
  expect(await server.rlm(["tasks", "output", id, "--follow"])).toEqual({
    code: 0,
    stdout: "hi Ada\nlate\n",
    stderr: "oops\n",
  });
  expect((await server.rlm(["tasks", "output", id])).stdout.split("\n").sort()).toEqual(["", "hi Ada", "late", "oops"]);
  expect((await server.rlm(["tasks"])).stdout).toMatch(
    new RegExp(
      `^ID +KIND +STATUS +EXIT +TIME +OUTPUT +SESSION +COMMAND\n${id} +shell +completed +3 +.* default +echo "hi`,
    ),
  );
  expect((await server.rlm(["tasks", "show", id])).stdout).toMatch(
    /^id +t-\S+\nkind +shell\nstatus +completed\nexit code +3\n/,
  );
  expect(JSON.parse((await server.rlm(["tasks", "show", id, "--json"])).stdout)).toMatchObject({
    id,
    result: { stdout: "hi Ada\nlate\n", stderr: "oops\n" },
  });
  expect(JSON.parse((await server.rlm(["tasks", "--json"])).stdout)).toMatchObject({ tasks: [{ id }] });
});

test("several words are a command and its arguments, whatever they contain", async () => {
  const id = await startTask("--", "printf", "[%s]", "a b", "it's", "$HOME; ls", "-n");
  expect((await server.rlm(["tasks", "output", id, "--follow"])).stdout).toBe("[a b][it's][$HOME; ls][-n]");
});

test("a task is paused, resumed and cancelled", async () => {
  const id = await startTask("--timeout", "600", "--", "sleep 600");
  const control = async (action: string) => (await server.rlm(["tasks", action, id])).stdout;
  expect([await control("pause"), await control("resume"), await control("cancel")]).toEqual([
    `${id} paused\n`,
    `${id} running\n`,
    `${id} cancelled\n`,
  ]);
  const { code, stderr } = await server.rlm(["tasks", "pause", id]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^rlm: cannot pause /)]);
});

test("binary output of a task is unchanged; Ctrl-C stops reading, not the task", { tags: "stress" }, async () => {
  const bytes = await startTask("--", String.raw`printf '\377\000\376'`);
  await server.rlm(["tasks", "output", bytes, "--follow"]);
  const program = start(["tasks", "output", bytes], server);
  await program.ended;
  expect([...program.bytes("stdout")]).toEqual([255, 0, 254]);

  const id = await startTask("--", "echo up; sleep 600");
  const reading = start(["tasks", "output", id, "--follow"], server);
  await reading.until(/up/);
  reading.signal("SIGINT");
  expect((await reading.ended).code).toBe(130);
  expect((await server.rlm(["tasks", "show", id])).stdout).toContain("status      running\n");
});

test("following resumes after the connection is cut, with a message", { tags: "stress" }, async () => {
  await using proxy = await startCuttingProxy(server.url, 2);
  const id = await startTask("--", "for i in $(seq 0 29); do echo $i; sleep 0.01; done");
  const lines = Array.from({ length: 30 }, (_, number) => `${number}\n`).join("");
  const lost = /^(?:rlm: the connection to http:\S+ failed: trying again\n)+$/;
  const follow = ["tasks", "output", id, "--follow"];
  const asCut = { code: 0, stdout: lines, stderr: expect.stringMatching(lost) };
  expect(await rlm(follow, { env: { ...server.env, RLM_URL: proxy.url } })).toEqual(asCut);
  await using other = await startCuttingProxy(server.url, 2);
  const session = (await server.rlm(["sessions", "open"])).stdout.trim();
  const exec = ["sessions", "exec", session, "-c", "for i in range(30): print(i)"];
  expect(await rlm(exec, { env: { ...server.env, RLM_URL: other.url } })).toEqual(asCut);
});

test("a missing task is reported", async () => {
  for (const what of ["show", "output", "cancel"]) {
    const { code, stdout, stderr } = await server.rlm(["tasks", what, "nope"]);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^rlm: cannot find task 'nope'/)]);
  }
  expect((await server.rlm(["tasks", "start"])).code).toBe(2);
});
