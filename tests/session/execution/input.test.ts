import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExecutionEvent, InputRequest, Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
});
afterAll(() => runtime.close());

test("input() is answered by onInput, with events in order that do not contain the answer", async () => {
  await using session = await runtime.openSession();
  const asked: Omit<InputRequest, "signal">[] = [];
  const execution = session.execute("print('hello')\nname = input('name? ')\nname.upper()", {
    onInput: async ({ prompt, password }) => {
      asked.push({ prompt, password });
      return "Ada";
    },
  });
  const events: ExecutionEvent[] = [];
  for await (const event of execution) events.push(event);
  expect((await execution.result).value).toEqual({ "text/plain": "'ADA'" });
  expect(asked).toEqual([{ prompt: "name? ", password: false }]);
  expect(events.slice(1, -1)).toMatchObject([
    { type: "output-delta", stream: "stdout", text: "hello\nname? " },
    { type: "input-start", call: 1, prompt: "name? ", password: false },
    { type: "input-end", call: 1, answered: true },
  ]);
  expect(JSON.stringify(events.slice(1, -1))).not.toContain("Ada");
});

test("without onInput the code gets an EOFError with the reason, and sys.stdin is empty", async () => {
  await using session = await runtime.openSession();
  const result = await session.execute("input('? ')").result;
  expect(result.error).toMatchObject({ name: "EOFError", value: "nobody answers input here" });
  expect((await session.execute("import sys; sys.stdin.read()").result).value).toEqual({ "text/plain": "''" });
});

test("null ends the input, bytes pass unchanged, and password prompts are marked", async () => {
  await using session = await runtime.openSession();
  const answers = ["one", Buffer.from("two\nthr\u00E9e"), null];
  const requests: boolean[] = [];
  const onInput = async ({ password }: InputRequest): Promise<string | Uint8Array | null> => {
    requests.push(password);
    return answers.shift() ?? null;
  };
  const code = "import sys, getpass\n[getpass.getpass(), sys.stdin.read()]";
  expect((await session.execute(code, { onInput }).result).value).toEqual({
    "text/plain": "['one', 'two\\nthr\u00E9e']",
  });
  expect(requests).toEqual([true, false, false]);
});

test("an error of onInput and an answer of the wrong type are an EOFError with the reason", async () => {
  await using session = await runtime.openSession();
  const failing = async (): Promise<never> => {
    throw new Error("the terminal is gone");
  };
  expect((await session.execute("input()", { onInput: failing }).result).error).toMatchObject({
    name: "EOFError",
    value: "the terminal is gone",
  });
  const wrong = (async () => 7) as never;
  expect((await session.execute("input()", { onInput: wrong }).result).error?.value).toContain(
    "a string, bytes or null",
  );
});

test("waiting for input does not count against the time limit, and an interrupt ends it", async () => {
  await using session = await runtime.openSession();
  let aborted: Promise<unknown> | undefined;
  const execution = session.execute("input()", {
    timeoutMs: 1000,
    onInput: ({ signal }) => {
      aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      setTimeout(() => session.interrupt(), 1100);
      return new Promise(() => {});
    },
  });
  expect(await execution.result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
  await aborted;
  expect((await session.execute("1").result).value).toEqual({ "text/plain": "1" });
});

test("user code can make the call itself, also with invalid arguments", async () => {
  await using session = await runtime.openSession();
  const requests: unknown[] = [];
  const onInput = async ({ prompt, password }: InputRequest): Promise<string> => {
    requests.push([prompt.length, password]);
    return "x";
  };
  const code =
    "import rlm_host\n[rlm_host.call('rlm:input', prompt=p, password=1) for p in (None, [1], 'y' * 100_000)]";
  expect((await session.execute(code, { onInput }).result).value).toEqual({ "text/plain": "['x', 'x', 'x']" });
  expect(requests).toEqual([
    [0, false],
    [0, false],
    [16_000, false],
  ]);
});

test("a thread that outlives its execution gets an error", async () => {
  await using session = await runtime.openSession();
  const code = [
    "import threading",
    "gate = threading.Event(); said = []",
    "def late():",
    "    gate.wait()",
    "    try: input()",
    "    except EOFError as error: said.append(str(error))",
    "t = threading.Thread(target=late); t.start()",
  ].join("\n");
  await session.execute(code, { onInput: async () => "x" }).result;
  const result = await session.execute("gate.set(); t.join(); said", { onInput: async () => "x" }).result;
  expect(result.value).toEqual({ "text/plain": "['the execution that could ask for input has ended']" });
});
