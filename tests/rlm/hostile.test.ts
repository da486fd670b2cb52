// Misbehaving models and code: a run survives them, reports what happened, and continues.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Runtime } from "../internals.ts";
import { openTestRuntime } from "../open.ts";
import { code, isEnd, questionOf, type ScriptFunction, scripted, stepOf, watch } from "./scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 3 });
});
afterAll(() => runtime.close());

const dispatcher = { firstDelayMs: 1, maxTries: 2 };
const run = (script: Parameters<typeof scripted>[1], request = {}, options = {}) =>
  watch(scripted(runtime, script, { dispatcher, ...options }), request);

describe("replies", () => {
  test("that are empty are reported to the model, and the run continues", async () => {
    let n = 0;
    const silent = [{ text: "" }, { text: "" }, { text: "  \n\t " }, { text: "  \n\t " }, code("FINAL(1)")];
    const { result, observations } = await run(() => silent[n++] ?? "");
    expect(result).toMatchObject({ status: "final", data: 1 });
    expect(observations[0]).toMatch(/^Nothing was run/);
    expect(observations[1]).toMatch(/^Nothing was run/);
  });

  test("that are always empty end the run, with the reason", async () => {
    const { result } = await run(() => ({ text: "" }));
    expect(result).toMatchObject({ status: "failed", stopReason: "error", answer: null });
    expect(result.why).toContain("empty");
  });

  test("of reasoning alone are reported to the model", async () => {
    const { result, observations } = await run((request) =>
      stepOf(request) > 0 ? code("FINAL(2)") : { reasoning: "hm ".repeat(100), text: "", finishReason: "length" },
    );
    expect(result.data).toBe(2);
    expect(observations[0]).toMatch(/limit of tokens/);
  });

  test("of a megabyte are read", async () => {
    const { result, observations } = await run((request) =>
      stepOf(request) > 0
        ? code("FINAL(len(x))")
        : `${"word ".repeat(200_000)}\n${code(`x = '${"y".repeat(500_000)}'`)}`,
    );
    expect(result.data).toBe(500_000);
    expect(observations[0]).toContain("no output");
  });

  test.each([
    ["~~~~python\nFINAL('a')\n~~~~", "a"],
    ["````repl\nx = '''\n```\n'''\nFINAL(x.strip())\n````", "```"],
    ["  ```py\n  FINAL('indented')\n  ```", "indented"],
    ["```\nFINAL('bare')\n```", "bare"],
    ["```repl\nFINAL('unclosed')", "unclosed"],
    ["```repl\r\nFINAL('crlf')\r\n```\r\n", "crlf"],
    ["```python\n```repl\nFINAL('nested')\n```\n```", "nested"],
    ["```json\n{}\n```\n```python\nFINAL('second')\n```", "second"],
    ["FINAL(str((1, (2, 3))))", "(1, (2, 3))"],
    ["I think so.\n  FINAL([1, 2], (3))", "[1, 2], (3)"],
    ["```repl\nprint('FINAL(no)')\nFINAL('yes')\n```\nFINAL(no)", "yes"],
  ])("in fences of every kind are read: %j", async (reply, answer) => {
    const { result } = await run((request) => (stepOf(request) > 0 ? code("FINAL('later')") : reply));
    expect(result.answer).toBe(answer);
  });

  test("with code and an answer run the code first", async () => {
    const { result, observations } = await run([`${code("print('real')")}\nFINAL(invented)`, code("FINAL('seen')")]);
    expect(observations[0]).toContain("real");
    expect(result.answer).toBe("seen");
  });

  test("that name a missing variable are reported to the model, and the run continues", async () => {
    const { result, observations } = await run([
      "FINAL_VAR(nothing)",
      code("FINAL_VAR('nor_this')"),
      code("x = 3"),
      'FINAL_VAR("x")',
    ]);
    expect(observations[0]).toContain("there is no variable 'nothing'");
    expect(observations[1]).toContain("there is no variable 'nor_this'");
    expect(result).toMatchObject({ status: "final", data: 3 });
  });
});

describe("the answer", () => {
  test.each([
    ["try:\n    FINAL('a')\nexcept Exception:\n    print('caught')", "a"],
    ["try:\n    FINAL('b')\nexcept BaseException:\n    pass\nx = 1", "b"],
    ["try:\n    1 / 0\nexcept ZeroDivisionError:\n    FINAL('c')", "c"],
    ["try:\n    1 / 0\nfinally:\n    FINAL('d')", "d"],
    ["import threading\nt = threading.Thread(target=FINAL, args=('e',)); t.start(); t.join()", "e"],
    ["import asyncio\nasync def f(): FINAL('f')\nawait asyncio.gather(f(), return_exceptions=True)", "f"],
    ["def deep(n): return FINAL('g') if n == 0 else deep(n - 1)\ndeep(50)", "g"],
    ["[FINAL(x) for x in ['h']]", "h"],
    ["FINAL('i')\nraise SystemExit(3)", "i"],
  ])("is accepted in any form: %j", async (text, answer) => {
    const { result } = await run((request) => (stepOf(request) > 0 ? code("FINAL('later')") : code(text)));
    expect(result).toMatchObject({ status: "final", answer });
  });

  test("may be anything", async () => {
    const values: [string, unknown][] = [
      ["None", null],
      ["float('nan')", "nan"],
      ["{1: {(2, 3): 'x'}}", expect.stringContaining("(2, 3)")],
      ["object", expect.stringContaining("class")],
      ["b'\\xff'", "\uFFFD"],
      ["{1, 2}", "{1, 2}"],
      ["'\\ud800'", expect.any(String)],
      ["10 ** 30", 1e30],
    ];
    for (const [value, data] of values) {
      const { result } = await run([code(`FINAL(${value})`)]);
      expect(result, value).toMatchObject({ status: "final", data });
    }
  });

  test("that is cyclic or too large never breaks the run", { tags: "stress" }, async () => {
    const { result, observations } = await run([code("x = []; x.append(x); FINAL(x)"), code("FINAL('z')")]);
    expect(result.status).toBe("final");
    expect(observations.length).toBeGreaterThan(0);
    const large = await run([code("FINAL('x' * 40_000_000)"), code("FINAL('z')")]);
    expect(large.observations[0]).toContain("too long");
    expect(large.result.answer).toBe("z");
  });
});

describe("code", () => {
  test.each([
    "FINAL = llm_query = rlm_query = FINAL_VAR = SUBMIT = None",
    "del FINAL, llm_query, rlm_query, FINAL_VAR, SUBMIT, _out, chunk",
    "import sys; sys.modules.pop('rlm_session', None)",
    "globals().clear()",
    "globals = open = print = len = None",
    "import rlm_session; rlm_session.RESERVED.clear(); del rlm_session",
    "_out = 5",
  ])("cannot remove the functions of a run: %s", async (text) => {
    const script = [
      code(text),
      "```repl\nx = llm_query('q')",
      code("import builtins; builtins.print('a' * 20_000)"),
      code("y = len(_out[3]) if len else 20_001"),
      code("FINAL([str(x), y])"),
    ];
    let n = 0;
    const { result } = await run((request) => (request.model === "sub" ? "from sub" : (script[n++] ?? "")));
    expect(result).toMatchObject({ status: "final", data: ["from sub", 20_001] });
  });

  test("may define variables that are named like our helpers", async () => {
    const { result } = await run([
      code("chunk = 'mine'; budget = 5; grep = [1]"),
      code("FINAL([chunk, budget, grep])"),
    ]);
    expect(result.data).toEqual(["mine", 5, [1]]);
  });

  test("that calls exit() keeps its variables", async () => {
    const { result, observations } = await run([code("x = 1\nimport sys; sys.exit(3)"), code("FINAL(x)")]);
    expect(observations[0]).toContain("exit(3)");
    expect(result.data).toBe(1);
  });

  test.each([
    ["ends its process", "import os; os._exit(7)"],
    ["is killed", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
    ["crashes", "import ctypes; ctypes.string_at(0)"],
    ["uses up its memory", "x = bytearray(8 << 30); x[::4096] = b'1' * (len(x) // 4096)"],
  ])("that %s loses its variables, and the context is restored", async (_, text) => {
    const { result, observations } = await run(
      [code(`mine = 1\n${text}`), code("FINAL([context, 'mine' in globals(), len(_out)])")],
      {
        context: "the material",
      },
    );
    expect(result.status).toBe("final");
    if (observations[0]?.includes("MemoryError")) return expect(result.data).toEqual(["the material", true, 0]);
    expect(observations[0]).toContain("All variables were lost");
    expect(observations[0]).toContain("context were loaded again");
    expect(result.data).toEqual(["the material", false, 0]);
  });

  test("whose process ends between two blocks is reported to the model at the next one", async () => {
    const { result, observations } = await run(
      (request) => {
        if (stepOf(request) === 0)
          return code(
            "import threading, os, time\nmine = 1\nthreading.Thread(target=lambda: (time.sleep(0.05), os._exit(1))).start()",
          );
        if (stepOf(request) === 1)
          return new Promise((resolve) => setTimeout(resolve, 600, code("print(context, 'mine' in globals())")));
        return code("FINAL(context)");
      },
      { context: "material" },
    );
    expect(observations[1]).toContain("Before this block all variables were lost");
    expect(observations[1]).toContain("material False");
    expect(result.answer).toBe("material");
  });

  test("that prints endlessly is shown truncated, and the rest is in _out", { tags: "stress" }, async () => {
    const { result, observations } = await run([
      code("for i in range(1_000_000): print('line', i, 'x' * 90)"),
      code("o = _out[1]; FINAL([len(o), o[:6], _out.keys() == {1}])"),
    ]);
    expect(observations[0]?.length).toBeLessThan(11_000);
    expect(observations[0]).toContain("line 0 ");
    expect(observations[0]).toContain("line 999999 ");
    expect(observations[0]).toMatch(/of 10\d,\d{3},\d{3} bytes omitted; the first 33554432 bytes are in _out\[1\]/);
    expect(result.data).toEqual([33_554_432, "line 0", true]);
  });

  test("with an error or a value of a megabyte is shown truncated", async () => {
    const { observations } = await run([
      code("raise ValueError('e' * 1_000_000)"),
      code("'v' * 1_000_000"),
      code("FINAL(1)"),
    ]);
    expect(observations[0]?.length).toBeLessThan(6_000);
    expect(observations[0]).toContain("ValueError");
    expect(observations[1]?.length).toBeLessThan(11_000);
  });

  test("that makes invalid host calls gets errors, and the run continues", async () => {
    const attack = `
import rlm_host
seen = []
def attempt(name, **args):
    try:
        rlm_host.call(name, **args)
        seen.append('ok')
    except BaseException as e:
        seen.append(type(e).__name__)
attempt('nothing')
attempt('__proto__')
attempt('constructor')
attempt('llm_query')
attempt('llm_query', prompts=[])
attempt('llm_query', prompts=[7])
attempt('llm_query', prompts=['x'], max_tokens=-1)
attempt('llm_query', prompts=['x'] * 10_001)
attempt('rlm_query', tasks=[{'task': 'x', 'budget': {'tokens': 1e999}}])
attempt('rlm_query', tasks=[{'task': 'x', 'budget': {'gold': 1}}])
attempt('tool', tool='nope', args={})
attempt('tool', tool='nope', args=[1])
deep = []
for i in range(200): deep = [deep]
attempt('final', text='x', data=deep)
attempt('final', text=5, data=None)
attempt('budget', extra=1)
`;
    const { result } = await run([code(attack), code("FINAL(seen)")]);
    const error = "HostCallError";
    const ours = Array<string>(8).fill(error);
    expect(result.data).toEqual(ours.concat("ValueError", error, "ok", error, "ValueError", error, "ok"));
  });

  test("makes 10,000 calls at once", { tags: "stress" }, async () => {
    const script: ScriptFunction = (request) => {
      if (request.model === "sub") return "a";
      return stepOf(request) > 0
        ? code("FINAL(n)")
        : code("n = sum(a.ok for a in llm_query_batched([str(i) for i in range(10_000)]))");
    };
    // Under a token limit most of them wait until others give back what they held.
    const { result } = await run(script, {}, { limits: { llmCalls: 20_000, tokens: 1_000_000 } });
    expect(result.data).toBe(10_000);
  });

  test("sends prompts of 5 MB", { tags: "stress" }, async () => {
    const script: ScriptFunction = (request) => {
      if (request.model === "sub") return `${request.messages.at(-1)?.content.length}`;
      return stepOf(request) > 0
        ? code("FINAL(r)")
        : code("r = [str(llm_query('é' * 5_000_000)), [str(a) for a in llm_query_batched(['x' * 5_000_000] * 4)]]");
    };
    expect((await run(script)).result.data).toEqual(["5000000", Array(4).fill("5000000")]);
  });

  test("with more values than a message may have gets an error, and keeps its variables", async () => {
    const { result, observations } = await run([
      code("rows = [[1, 2]] * 400_000\nFINAL(rows)"),
      // The most that the host takes, and one more.
      code("import rlm_host\nrlm_host.call('budget', a=[0] * 499_994)\nrlm_host.call('budget', a=[0] * 499_995)"),
      code("import json\nFINAL([len(rows), len(json.dumps(rows))])"),
    ]);
    const why = "the call is too long: it has more than 500,000 JSON values. Pass long data as one text";
    expect(observations[0]).toContain(`ValueError: final: ${why}`);
    expect(observations[1]).toContain(`line 3, in <module>`);
    expect(observations[1]).toContain(`ValueError: budget: ${why}`);
    expect(result.data).toEqual([400_000, 3_200_000]);
  });

  test("gets an error for a prompt that is too large to send", async () => {
    const { result } = await run([
      code("try: llm_query('x' * 40_000_000)\nexcept ValueError as e: why = str(e)"),
      code("FINAL(why)"),
    ]);
    expect(result.answer).toContain("too long");
  });
});

test("a context of 200 MB is loaded, described and searched", { tags: "stress" }, async () => {
  const context = `${"0123456789abcde\n".repeat(13_000_000)}needle`;
  const { result } = await run([code("FINAL([len(context), context.find('needle')])")], { context });
  expect(result.data).toEqual([208_000_006, 208_000_000]);
});

test("nested JSON of many megabytes is described without being shown whole", async () => {
  const json = { rows: Array.from({ length: 100_000 }, (_, n) => ({ n, text: "t".repeat(50) })) };
  const { result, events } = await run([code("FINAL(len(context['rows']))")], { context: { json } });
  expect(result.data).toBe(100_000);
  const first = events.find((event) => event.type === "model-call-start");
  expect(first?.type === "model-call-start" && (first.messages[1]?.content.length ?? 0)).toBeLessThan(3_000);
});

describe("recursion", () => {
  test("of four levels completes, with one request at a time", { tags: "stress" }, async () => {
    const script: ScriptFunction = (request) => {
      const level = Number(/level (\d)/.exec(questionOf(request))?.[1] ?? 0);
      if (level === 4) return code("FINAL('bottom')");
      if (stepOf(request) > 0) return code("FINAL([str(x) for x in a])");
      return code(`a = rlm_query_batched(['level ${level + 1}'] * 2)`);
    };
    const { result } = await run(script, {}, { dispatcher: { maxConcurrency: 1 } });
    expect(result.status).toBe("final");
    expect(JSON.stringify(result.data).match(/bottom/g)).toHaveLength(16);
    expect(Object.keys(result.usage.byNode)).toHaveLength(31);
  });

  test("with 150 parallel children completes, though there are fewer sessions", { tags: "stress" }, async () => {
    const script: ScriptFunction = (request) => {
      if (questionOf(request) === "child") return code("FINAL(context)");
      return stepOf(request) > 0
        ? code("FINAL(sum(x.data for x in a if x.ok))")
        : code("a = rlm_query_batched([('child', 1)] * 150)");
    };
    const { result } = await run(script);
    expect(result.data).toBe(150);
  });

  test("that is cancelled leaves no session", async () => {
    const controller = new AbortController();
    const script: ScriptFunction = (request) => {
      if (questionOf(request) === "child") return code("print('up', flush=True)\nwhile True: pass");
      return code("rlm_query_batched(['child'] * 50)");
    };
    const going = scripted(runtime, script).run({ query: "?", signal: controller.signal });
    let up = 0;
    for await (const event of going) if (event.type === "output-delta" && ++up === 8) controller.abort();
    expect(await going.result).toMatchObject({ status: "cancelled", answer: null });
    expect(runtime.sessions.list()).toEqual([]);
  });

  test("with an invalid schema or unknown tools is an error in the code", async () => {
    const script: ScriptFunction = (request) => {
      if (questionOf(request) === "good") return code("FINAL('fine')");
      if (stepOf(request) > 0) return code("FINAL(seen)");
      return code(
        "seen = [[x.ok, str(x.error)] for x in rlm_query_batched(['a'], tools=['nope']) + rlm_query_batched(['a'], schema={'type': 'no such type'})]\nseen.append(str(rlm_query('good')))\ntry: llm_query('x', schema={'type': 'no such type'})\nexcept LLMError as e: seen.append(str(e))",
      );
    };
    const { result } = await run(script);
    expect(result.data).toEqual([
      [false, expect.stringContaining("'nope'")],
      [false, expect.stringContaining("schema")],
      "fine",
      expect.stringContaining("schema"),
    ]);
  });
});

test("SHOW_VARS() shows what it can where objects fail whatever they are asked", async () => {
  const block = `
class Fails:
    def __getattr__(self, name): raise KeyError(name)
    def __len__(self): raise ValueError
    def __repr__(self): raise OSError
class Truthy:
    def __getattr__(self, name): return 1
fails, truthy, number = Fails(), Truthy(), 5
globals()[7] = "no name"
print(SHOW_VARS())`;
  const { observations } = await run((request) => (stepOf(request) > 0 ? code("FINAL(1)") : code(block)));
  expect(observations[0]).toContain("\nfails: Fails (cannot be shown: KeyError)\n");
  expect(observations[0]).toContain("\nnumber: int (no length) = 5\n");
  expect(observations[0]).toContain("\ntruthy: Truthy (");
});

describe("code that offers contexts of its own making", () => {
  const forge = `
import rlm_host
def ask(offer, call=rlm_host._call_with, **fields):
    task = {'task': 'FINAL([type(context).__name__, len(context)])', 'context': None, 'offered': {'source': 0, 'kind': 'text', **fields}}
    try:
        [reply] = call([offer], 'rlm_query', tasks=[task])
        return reply['data'] if reply['ok'] else reply['error']
    except BaseException as error:
        return repr(error)
abc = lambda: [b'abc']
`;

  test("gets an error for each that is wrong, and the run continues", async () => {
    const script: ScriptFunction = (request) => {
      if (questionOf(request) !== "?") return code(questionOf(request));
      return stepOf(request) > 0 ? code("FINAL(seen)") : code(attack);
    };
    const attack = `${forge}
def asks_back(): yield str(rlm_host.call('budget')).encode()[:1]
def stops():
    yield b'x'
    raise KeyboardInterrupt
seen = [
    ask(abc), ask(asks_back), ask(abc, kind='files', files={'names': ['a', 'b'], 'sizes': [3, 0]}),
    ask(abc, source=1), ask(abc, source=-1), ask(abc, kind='secret'), ask(lambda: 1 / 0), ask(lambda: ['text']), ask(5), ask(stops),
    ask(abc, kind='files', files={'names': ['a'], 'sizes': [4]}), ask(abc, kind='files', files={'names': ['a', 'b'], 'sizes': [1]}),
    ask(abc, kind='files'), ask(abc, kind='json'), ask(abc, call=lambda _, name, tasks: rlm_host.call(name, tasks=tasks)),
]`;
    const has = (text: string): unknown => expect.stringContaining(text);
    const sizes = has("the files of the context have a different size");
    expect((await run(script)).result.data).toEqual([
      ["str", 3],
      ["str", 1],
      ["dict", 2],
      has("list index out of range"),
      has("offered"),
      has("offered"),
      has("division by zero"),
      has("bytes-like"),
      has("not callable"),
      "KeyboardInterrupt()",
      sizes,
      sizes,
      sizes,
      has("context"),
      has("does not offer it"),
    ]);
  });

  test("without end gets an error once its space is taken", async () => {
    await using small = await openTestRuntime({ poolSize: 1, limits: { memoryBytes: 80 * 1024 ** 2 } });
    const script: ScriptFunction = (request) => {
      if (questionOf(request) !== "?") return code("FINAL(len(context))");
      const block = "seen = ask(lambda: iter(lambda: b'x' * 1_000_000, None))\nthen = ask(abc)";
      return stepOf(request) > 0 ? code("FINAL([seen, then])") : code(`${forge}${block}`);
    };
    const { result } = await watch(scripted(small, script));
    expect(result.data).toEqual([expect.stringContaining("take more than 160.0 MiB together"), 3]);
  });
});

test("a run that exceeds the model's context window ends with the best answer", async () => {
  const script: ScriptFunction = (request) => {
    if (isEnd(request))
      return request.messages.length === 1 ? "short but here" : { error: { fault: "context-too-long" } };
    return stepOf(request) < 2 ? code("print('seen')") : { error: { fault: "context-too-long" } };
  };
  const { result } = await run(script);
  expect(result).toMatchObject({ status: "partial", stopReason: "error", answer: "short but here" });
});
