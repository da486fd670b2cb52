import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineTool, type RLM, type RLMOptions, type RunEvent, type Runtime } from "../internals.ts";
import { z } from "zod";
import { ManualClock } from "../backends/dispatch/manual-clock.ts";
import { openTestRuntime } from "../open.ts";
import { code, scripted, type Script, watch } from "./scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 3 });
});
afterAll(() => runtime.close());

const ask = (script: Script, options: Partial<RLMOptions> = {}): RLM => scripted(runtime, script, options);

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe("a run", () => {
  test("runs code over the context until the model gives the answer", async () => {
    const rlm = ask([code("print(len(context)); n = context.count('needle')"), code("FINAL(n)")]);
    const result = await rlm.run({ query: "How many?", context: "hay needle hay needle" }).result;
    expect(result).toMatchObject({ status: "final", stopReason: "answered", answer: "2", data: 2, why: null });
    expect(result.usage.total).toMatchObject({ llmCalls: 2, iterations: 2 });
  });

  test("emits its events in order, with the observations of the model", async () => {
    const seen: RunEvent[] = [];
    const run = ask([code("print('a' * 3)\n1 + 1"), code("FINAL('x')")]).run({ query: "?", context: "c" });
    for await (const event of run) seen.push(event);
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
    const kinds = seen.map(({ type }) => type).filter((type) => !type.endsWith("delta"));
    const step = ["step-start", "model-call-start", "model-call-end", "code-start", "code-end", "step-end"];
    expect(kinds).toEqual(["run-start", "node-start", ...step, ...step, "node-end", "run-end"]);
    const end = seen.find((event) => event.type === "step-end");
    expect(end?.type === "step-end" && end.observation).toBe("Output of block 1:\naaa\n→ 2");
  });

  test("records what code prints on both streams in that order, and shows it to the model so", async () => {
    const alternate = "import sys\nfor i in range(4): print(i, file=(sys.stdout, sys.stderr)[i % 2])";
    const seen = await collect(ask([code(alternate), code("FINAL('x')")]).run({ query: "?", context: "c" }));
    const printed = seen.flatMap((event) => (event.type === "output-delta" ? [[event.stream, event.text]] : []));
    expect(printed).toEqual([
      ["stdout", "0\n"],
      ["stderr", "1\n"],
      ["stdout", "2\n"],
      ["stderr", "3\n"],
    ]);
    const recorded = seen.find((event) => event.type === "code-end");
    expect(recorded?.type === "code-end" && recorded.order).toEqual(
      printed.map(([stream]) => ({ stream, characters: 2 })),
    );
    const end = seen.find((event) => event.type === "step-end");
    expect(end?.type === "step-end" && end.observation).toBe("Output of block 1:\n0\n1\n2\n3");
  });

  test("is followed from any cursor, while it runs and afterwards", async () => {
    const run = ask([code("FINAL('x')")]).run({ query: "?", context: "c" });
    const followed = await collect(run.follow());
    expect(followed.map(({ cursor }) => cursor)).toEqual(followed.map((_, index) => String(index + 1)));
    expect(await collect(run.follow({ after: "3" }))).toEqual(followed.slice(3));
    expect(await collect(run.follow({ after: String(followed.length) }))).toEqual([]);
    expect(() => run.follow({ after: "x" })).toThrow("it is not a cursor of this event stream");
    const gone = AbortSignal.abort();
    expect(await collect(run.follow({ signal: gone }))).toEqual([]);
  });

  test("stops a reader whose signal is aborted", async () => {
    const reader = new AbortController();
    const run = ask(async () => new Promise<never>(() => {})).run({ query: "?", context: "c" });
    const heard: string[] = [];
    for await (const { event } of run.follow({ signal: reader.signal })) {
      heard.push(event.type);
      if (event.type === "model-call-start") queueMicrotask(() => reader.abort());
    }
    expect(heard.at(-1)).toBe("model-call-start");
    run.cancel();
    await run.result;
  });

  test("takes models and a mode of its own, and releases its context at the end", async () => {
    const asked: string[] = [];
    const rlm = ask(({ model }) => {
      asked.push(model);
      return "FINAL(1)";
    });
    const run = rlm.run({ query: "?", context: "material", model: "own", mode: "direct" });
    expect(run.settings).toMatchObject({ model: "own", subModel: "sub", mode: "direct" });
    expect(run.settings.context).toHaveLength(1);
    await run.result;
    expect(asked).toEqual(["own"]);
    expect(run.settings.context).toEqual([]);
    expect(() => rlm.run({ query: "?", model: "" })).toThrow("the name of a model is empty");
  });

  test("cuts the reply at the end of its first block of code", async () => {
    const run = ask([`${code("print(41 + 1)")}\nOutput: 7\n\`\`\`repl\nFINAL(7)\n\`\`\``, code("FINAL(42)")]).run({
      query: "?",
    });
    const messages: string[] = [];
    for await (const event of run)
      if (event.type === "model-call-start") messages.push(event.messages.at(-2)?.content ?? "");
    expect((await run.result).answer).toBe("42");
    expect(messages[1]).toBe("Let me see.\n```repl\nprint(41 + 1)\n```");
  });

  test("calls sub-models one by one and in batches; failures in a batch are results", async () => {
    const script: Script = ({ model, messages }) => {
      const last = messages.at(-1)?.content ?? "";
      if (model === "sub") {
        if (last.includes("bad")) throw new Error("no such luck");
        return `<${last}>`;
      }
      if (messages.length > 2) return code("FINAL(answer)");
      return code(
        "one = llm_query('a')\nmany = llm_query_batched(['b', 'bad', 'c'])\nanswer = [str(one), [str(m) for m in many if m.ok], [m.ok for m in many]]",
      );
    };
    const result = await ask(script).run({ query: "?" }).result;
    expect(result.data).toEqual(["<a>", ["<b>", "<c>"], [true, false, true]]);
  });

  test("splits a batch that is larger than a message, in order, and makes no call for an empty one", async () => {
    const script: Script = ({ model, messages }) => {
      if (model === "sub") return messages.at(-1)?.content.replace(/^é+/, "") ?? "";
      return code(
        "many = llm_query_batched(['é' * 1_000_000 + str(n) for n in range(7)])\nmore = await llm_query_batched_async(str(n) for n in range(3))\n" +
          "FINAL([[str(m) for m in many], len(more), llm_query_batched([]), rlm_query_batched([])])",
      );
    };
    const result = await ask(script).run({ query: "?" }).result;
    expect(result.data).toEqual([["0", "1", "2", "3", "4", "5", "6"], 3, [], []]);
  });

  test("gives tasks to children with sessions of their own, in parallel, with separate output", async () => {
    const script: Script = ({ messages }) => {
      const question = messages[1]?.content ?? "";
      const child = /Question: child (\d)/.exec(question)?.[1];
      if (child !== undefined)
        return messages.length > 2 ? code(`FINAL(context * 2)`) : code(`print("child ${child}", context)`);
      if (messages.length > 2) return code("FINAL([a.data for a in answers])");
      return code(
        "print('parent'); context = 'mine'; answers = rlm_query_batched([(f'child {i}', i) for i in range(4)]); print(context)",
      );
    };
    const outputs: Record<string, string> = {};
    const run = ask(script).run({ query: "top" });
    for await (const event of run)
      if (event.type === "code-end") outputs[event.nodeId] = (outputs[event.nodeId] ?? "") + event.result.stdout;
    expect((await run.result).data).toEqual([0, 2, 4, 6]);
    expect(outputs["n0"]).toBe("parent\nmine\n");
    expect(
      Object.entries(outputs)
        .filter(([id]) => id !== "n0")
        .map(([, text]) => text)
        .toSorted(),
    ).toEqual([0, 1, 2, 3].map((n) => `child ${n} ${n}\n`));
  });

  test("at the depth limit rlm_query is a single model call, and says so", async () => {
    const script: Script = ({ model, messages }) => {
      if (model === "sub") return "from the sub-model";
      return messages.length > 2 ? code("FINAL([str(a), a.degraded])") : code("a = rlm_query('do it', 'with this')");
    };
    const result = await ask(script, { limits: { maxDepth: 0 } }).run({ query: "?" }).result;
    expect(result.data).toEqual(["from the sub-model", true]);
  });

  test("keeps state after an exception, and shows it", async () => {
    const result = await ask([code("x = 5\n1 / 0"), code("FINAL(x)")]).run({ query: "?" }).result;
    expect(result).toMatchObject({ status: "final", data: 5 });
  });

  test("names the blocks in tracebacks as the observations do", async () => {
    const { observations } = await watch(
      ask([
        code("def third(rows):\n    return rows[2]"),
        code("x = ["),
        code("rows = [1, 2]\nfirst = rows[0]\nawait __import__('asyncio').sleep(0)\nthird(rows)"),
        code("FINAL(1)"),
      ]),
    );
    expect(observations[1]).toMatch(/^Output of block 2:\n[^]*File "<block 2>", line 1\n    x = \[/);
    expect(observations[2]).toMatch(
      /^Output of block 3:\nTraceback \(most recent call last\):\n {2}File "<block 3>", line 4, in <module>\n {4}third\(rows\)\n[^]*File "<block 1>", line 2, in third\n {4}return rows\[2\]\n[^]*IndexError/,
    );
  });

  test("sends an answer that does not follow the schema back with the reason", async () => {
    const seen: string[] = [];
    const run = ask([code("SUBMIT(total='many')"), code("SUBMIT(total=3)")]).run({
      query: "?",
      schema: z.object({ total: z.int() }),
    });
    for await (const event of run) if (event.type === "step-end") seen.push(event.observation);
    expect((await run.result).data).toEqual({ total: 3 });
    expect(seen[0]).toMatch(/not accepted: total: .*expected (number|int)/i);
  });

  test("shows what was expected after a reply without code", async () => {
    const seen: string[] = [];
    const run = ask(["I think it is 7.", "```json\n{}\n```", "FINAL(8)"]).run({ query: "?" });
    for await (const event of run) if (event.type === "step-end") seen.push(event.observation);
    expect((await run.result).answer).toBe("8");
    expect(seen[0]).toMatch(/```repl/);
    expect(seen[1]).toMatch(/json/);
  });

  test("uses tools as functions, with checked arguments", async () => {
    const weather = defineTool({
      name: "weather",
      description: "The weather of a city.",
      schema: z.object({ city: z.string(), days: z.int().default(1) }),
      handler: ({ city, days }) => ({ city, days }),
    });
    const script = [
      code(
        "a = weather('Oslo'); b = weather(city='Rome', days=3)\ntry:\n    weather(7)\nexcept Exception as e:\n    c = str(e)",
      ),
      code("FINAL([a, b, c])"),
    ];
    const result = await ask(script, { tools: [weather] }).run({ query: "?" }).result;
    expect(result.data).toEqual([
      { city: "Oslo", days: 1 },
      { city: "Rome", days: 3 },
      expect.stringContaining("city"),
    ]);
    expect(result.usage.total.toolCalls).toBe(3);
  });
});

describe("limits", () => {
  test("on iterations end with the best answer that there is", async () => {
    const script: Script = ({ messages }) =>
      (messages.at(-1)?.content ?? "").includes("has to end here") ? "about 7" : code("pass");
    const result = await ask(script, { limits: { maxIterations: 3 } }).run({ query: "?" }).result;
    expect(result).toMatchObject({ status: "partial", stopReason: "iterations", answer: "about 7" });
  });

  test("on tokens hold over the whole tree, whatever runs in parallel", async () => {
    const usage = (input: number, output: number) => ({ inputTokens: input, outputTokens: output });
    const script: Script = ({ model, messages, maxTokens = 0 }) => {
      if (model === "sub") return { text: "x".repeat(40), usage: usage(100, Math.min(400, maxTokens)) };
      if ((messages.at(-1)?.content ?? "").includes("has to end here"))
        return { text: "enough", usage: usage(200, 20) };
      return { text: code("r = llm_query_batched(['p'] * 40); print(sum(a.ok for a in r))"), usage: usage(300, 50) };
    };
    const result = await ask(script, { limits: { tokens: 30_000 } }).run({ query: "?" }).result;
    expect(result).toMatchObject({ status: "partial", stopReason: "tokens", answer: "enough" });
    expect(result.usage.total.tokens).toBeLessThanOrEqual(30_000);
  });

  test("on cost are an error where a price is not known, never a silent zero", async () => {
    const result = await ask([code("FINAL(1)")], { limits: { costUsd: 1 } }).run({ query: "?" }).result;
    expect(result.status).toBe("failed");
    expect(result.why).toMatch(/price/i);
  });

  test("on time end running code, and the run has an answer", async () => {
    const script: Script = ({ messages }) =>
      (messages.at(-1)?.content ?? "").includes("has to end here")
        ? "in time"
        : code("print('on', flush=True)\nwhile True: pass");
    const clock = new ManualClock();
    const run = ask(script, { limits: { wallMs: 10_000 }, clock }).run({ query: "?" });
    for await (const { type } of run) if (type === "output-delta") await clock.goTo(9_000);
    const result = await run.result;
    expect(result).toMatchObject({ status: "partial", stopReason: "wallMs", answer: "in time" });
  });
});

test("cancelling ends the run and everything in it", async () => {
  const controller = new AbortController();
  const run = ask([code("print('up', flush=True)\nwhile True: pass")]).run({ query: "?", signal: controller.signal });
  for await (const event of run) if (event.type === "output-delta") controller.abort();
  expect(await run.result).toMatchObject({ status: "cancelled", answer: null });
  expect(runtime.sessions.list()).toEqual([]);
});

test("a small question goes straight to the model", async () => {
  const run = ask(({ messages }) => `saw ${messages.length}: ${messages[0]?.content}`, { mode: "auto" }).run({
    query: "What?",
    context: "little",
  });
  expect(await run.result).toMatchObject({ status: "final", answer: "saw 1: little\n\nWhat?" });
});
