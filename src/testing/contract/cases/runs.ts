// Recursive runs, answered by the script of the contract.

import type { Context } from "../../../api/run.ts";
import { IdReusedError, RunNotFoundError, TokenBudgetExhausted } from "../../../errors.ts";
import type { RunEvent } from "../../../protocol/run-events.ts";
import { check, equal, like, matches, rejects, throws } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { collect, first, raisesNothing } from "../drive.ts";
import { BEST_SO_FAR } from "../script.ts";
import { formsOf } from "./variables.ts";

const isCalling = ({ type }: RunEvent): boolean => type === "model-call-start";

export const RUNS: readonly ContractCase[] = [
  {
    name: "a run is awaited for its answer",
    needs: ["runs"],
    async run({ rlm }) {
      const run = rlm({ mode: "rlm" }).run({ query: "code: FINAL(6 * 7)" });
      const result = await run;
      matches(result, { runId: run.id, status: "final", stopReason: "answered", answer: "42", data: 42, why: null });
      equal(await run, result, "the result, awaited again");
      equal(await run.then(({ answer }) => answer), "42", "what then() gives");
      equal(await run.finally(() => {}), result, "what finally() gives");
      check(result.usage.total.outputTokens > 0, "the usage must be counted");
    },
  },
  {
    name: "a small question goes straight to the model",
    needs: ["runs"],
    async run({ rlm }) {
      matches(await rlm({ mode: "direct" }).run({ query: "say: hello" }), { status: "final", answer: "hello" });
      matches(await rlm({ mode: "rlm" }).run({ query: "say: straight", mode: "direct" }), { answer: "straight" });
    },
  },
  {
    name: "a request overrides single models, and what it says of all of them is checked",
    needs: ["runs"],
    async run({ rlm }) {
      const asking = rlm({ mode: "rlm", extractModel: "closer" });
      const run = asking.run({
        query: "code: FINAL(llm_query('code: 1'))",
        subModel: "reader",
        temperature: 0,
        seed: 1,
      });
      const [start] = await collect(run);
      matches(start, { type: "run-start", subModel: "reader", extractModel: "closer" });
      check(start?.type === "run-start" && start.childModel === start.model, "nodes below have the model of the root");
      const { usage } = await run;
      equal([usage.byRole.root?.llmCalls, usage.byRole.sub?.llmCalls], [1, 1], "the calls by role");
      throws(() => rlm({ temperature: -1 }), RangeError);
      throws(() => asking.run({ query: "say: x", seed: 0.5 }), RangeError);
      throws(() => asking.run({ query: "say: x", childModel: "" }), TypeError);
    },
  },
  {
    name: "a run has events from its start to its end, read live, late and twice",
    needs: ["runs"],
    async run({ rlm, other }) {
      const run = rlm({ mode: "rlm" }).run({ query: "code: print('seen'); FINAL('done')" });
      const events = await collect(run);
      matches(events[0], { type: "run-start", runId: run.id });
      const last = events.at(-1);
      check(last?.type === "run-end", "the last event must be the end");
      equal(last.result, await run, "the result in the last event");
      check(
        events.some((event) => event.type === "output-delta" && event.text.includes("seen")),
        "the output must be there",
      );
      const seqs = events.map(({ seq }) => seq);
      equal(
        seqs,
        [...new Set(seqs)].toSorted((a, b) => a - b),
        "the sequence numbers",
      );
      equal(await collect(run), events, "what a late reader got");
      equal((await collect(other.runs.get(run.id))).at(-1), last, "what another got last");
    },
  },
  {
    name: "an answer follows the schema, and is given as data",
    needs: ["runs"],
    async run({ rlm }) {
      const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
      const result = await rlm({ mode: "rlm" }).run({ query: "code: FINAL({'n': 3})", schema });
      equal(result.data, { n: 3 }, "the data");
      const direct = await rlm({ mode: "direct" }).run({ query: 'say: {"n": 4}', schema });
      equal(direct.data, { n: 4 }, "the data of a direct answer");
      const limits = { maxIterations: 2 };
      const wrong = await rlm({ mode: "rlm" }).run({ query: "code: FINAL('three')", schema, limits });
      check(wrong.status !== "final", "an answer that does not follow the schema is not final");
      throws(() => rlm().run({ query: "say: x", schema: 1 as never }), TypeError);
    },
  },
  {
    name: "the schema of a library gives typed data",
    needs: ["runs"],
    async run({ rlm }) {
      const schema = {
        "~standard": {
          version: 1,
          vendor: "contract",
          types: undefined as { readonly input: unknown; readonly output: { readonly n: number } } | undefined,
          jsonSchema: { input: () => ({ type: "object", properties: { n: { type: "number" } }, required: ["n"] }) },
        },
      } as const;
      const result = await rlm({ mode: "rlm" }).run({ query: "code: FINAL({'n': 2.5})", schema });
      const n: number | undefined = result.data?.n;
      equal(n, 2.5, "the number");
    },
  },
  {
    name: "the context is text, JSON or files, in one variable or several",
    needs: ["runs"],
    async run({ rlm }) {
      const contexts: readonly (readonly [Context, string, unknown])[] = [
        ["naïve 🦆", "context", "naïve 🦆"],
        [{ text: "plain" }, "context", "plain"],
        [{ text: `[${"9".repeat(30)}]`, as: "json" }, "str(context[0])", "9".repeat(30)],
        [{ json: { a: [1, null] } }, "context", { a: [1, null] }],
        [
          {
            files: [
              { name: "a b.txt", content: "A" },
              { name: "ä", content: new Blob(["B"]) },
            ],
          },
          "context",
          { "a b.txt": "A", ä: "B" },
        ],
        [
          { one: "1", two: { json: 2 }, three: { files: [{ name: "x", content: "y" }] } },
          "[one, two, three]",
          ["1", 2, { x: "y" }],
        ],
      ];
      for (const [context, expression, expected] of contexts) {
        const result = await rlm({ mode: "rlm" }).run({ query: `code: FINAL(${expression})`, context });
        equal(result.data ?? result.answer, expected, `what the code saw of ${JSON.stringify(context)}`);
      }
    },
  },
  {
    name: "files keep their order and their bytes, whatever their contents come as and however many they are",
    needs: ["runs"],
    async run({ rlm }) {
      const stream = async function* (): AsyncGenerator<string> {
        yield "streamed";
      };
      const files = [
        { name: "z", content: "zwölf" },
        { name: "empty", content: "" },
        { name: "stream", content: stream() },
        { name: "bytes", content: new Uint8Array([0xff, 0]) },
        { name: "blob", content: new Blob([]) },
      ];
      const query = "code: FINAL([[name, repr(text)] for name, text in context.items()])";
      const mixed = await rlm({ mode: "rlm" }).run({ query, context: { files, folder: "all" } });
      const expected = [
        ["z", "'zwölf'"],
        ["empty", "''"],
        ["stream", "'streamed'"],
        ["bytes", String.raw`b'\xff\x00'`],
        ["blob", "''"],
      ];
      equal(mixed.data, expected, "the files");
      const many = Array.from({ length: 1_500 }, (_, index) => ({ name: String(index), content: `text ${index}` }));
      const all = "code: FINAL([len(context), all(text == f'text {name}' for name, text in context.items())])";
      equal((await rlm({ mode: "rlm" }).run({ query: all, context: { files: many } })).data, [1_500, true], "many");
    },
  },
  {
    name: "a context may be streamed, in every form of content",
    needs: ["runs"],
    async run({ rlm }) {
      for (const [form, content] of formsOf("one\ntwo 🦆")) {
        const query = "code: FINAL(context)";
        const result = await rlm({ mode: "rlm" }).run({ query, context: { text: content() } });
        equal(result.data ?? result.answer, "one\ntwo 🦆", `the context from ${form}`);
      }
      const json = { text: new Blob(['{"n": 1}']), as: "json" } as const;
      const several = await rlm({ mode: "rlm" }).run({
        query: "code: FINAL([a, b['n']])",
        context: { a: "x", b: json },
      });
      equal(several.data, ["x", 1], "several variables");
    },
  },
  {
    name: "a context whose stream fails rejects with its error",
    needs: ["runs"],
    async run({ rlm }) {
      async function* broken(): AsyncGenerator<string> {
        yield "half";
        throw new RangeError("the source broke");
      }
      const run = rlm({ mode: "rlm" }).run({ query: "say: x", context: { text: broken() } });
      like(run.id, /^[A-Za-z0-9]/, "an id");
      await rejects(run, RangeError, { message: "the source broke" });
      await rejects(collect(run), RangeError);
      await raisesNothing(async () => {
        void rlm({ mode: "rlm" }).run({ query: "say: x", context: { text: broken() } });
      });
    },
  },
  {
    name: "at a limit there is the best answer",
    needs: ["runs"],
    async run({ rlm }) {
      const limited = rlm({ mode: "rlm", limits: { maxIterations: 2 } });
      const result = await limited.run({ query: "code: x = 1" });
      matches(result, { status: "partial", stopReason: "iterations", answer: BEST_SO_FAR });
      const own = await rlm({ mode: "rlm" }).run({ query: "code: x = 1", limits: { llmCalls: 3 } });
      matches(own, { status: "partial", stopReason: "llmCalls" });
    },
  },
  {
    name: "at a limit with onLimit throw the run rejects",
    needs: ["runs"],
    async run({ rlm }) {
      const run = rlm({ mode: "rlm", onLimit: "throw", limits: { tokens: 3000 } }).run({ query: "code: x = 1" });
      const error = await rejects(run, TokenBudgetExhausted, { code: "TOKEN_BUDGET_EXHAUSTED", limit: 3000 });
      check(error.used > 0, "what was used must be known");
      await rejects(collect(run), TokenBudgetExhausted);
    },
  },
  {
    name: "a run may choose what happens at a limit",
    needs: ["runs"],
    async run({ rlm }) {
      const limits = { tokens: 3000 };
      const query = "code: x = 1";
      const throwing = rlm({ mode: "rlm" }).run({ query, limits, onLimit: "throw" });
      await rejects(collect(throwing), TokenBudgetExhausted, { limit: 3000 });
      await rejects(throwing, TokenBudgetExhausted);
      const partial = await rlm({ mode: "rlm", onLimit: "throw" }).run({ query, limits, onLimit: "partial" });
      matches(partial, { status: "partial", stopReason: "tokens" });
      const inherited = rlm({ mode: "rlm", onLimit: "throw" }).run({ query, limits, onLimit: undefined });
      await rejects(inherited, TokenBudgetExhausted);
    },
  },
  {
    name: "a run is cancelled by its method and by its signal, and one that is aborted before does not start",
    needs: ["runs"],
    async run({ rlm, other }) {
      const run = rlm({ mode: "rlm" }).run({ query: "wait" });
      await first(run, isCalling);
      equal((await run.info()).status, "running", "the status");
      await other.runs.get(run.id).cancel();
      matches(await run, { status: "cancelled", stopReason: "cancelled", answer: null });
      const controller = new AbortController();
      const aborted = rlm({ mode: "direct" }).run({ query: "wait", signal: controller.signal });
      await first(aborted, isCalling);
      controller.abort();
      matches(await aborted, { status: "cancelled" });
      await run.cancel();
      const signal = AbortSignal.abort(new RangeError("enough"));
      await rejects(rlm().run({ query: "wait", signal }), RangeError, { message: "enough" });
    },
  },
  {
    name: "a run is found by its id, and listed, the latest first",
    needs: ["runs"],
    async run({ rlm, runtime, other }) {
      const one = rlm({ mode: "direct" }).run({ query: "say: first" });
      const result = await one;
      const two = rlm({ mode: "direct" }).run({ query: "say: second" });
      await two;
      equal(await other.runs.get(one.id), result, "the result");
      matches(await other.runs.get(one.id).info(), {
        id: one.id,
        query: "say: first",
        status: "final",
        stopReason: "answered",
      });
      const { items } = await runtime.runs.list({ limit: 1000 });
      const [latest, before] = items.map(({ id }) => id).filter((id) => id === one.id || id === two.id);
      equal(latest === before, false, "whether both are listed once");
      const times = items.map(({ startedAt }) => startedAt);
      equal(times, times.toSorted().toReversed(), "the times");
      const final = await runtime.runs.list({ limit: 1000, status: "final", text: "SAY: Fir" });
      check(
        final.items.some(({ id }) => id === one.id),
        "a run must be found by its state and its question",
      );
      check(
        final.items.every(({ status, query }) => status === "final" && query.includes("say: fir")),
        "only runs with this state and this question",
      );
      throws(() => void runtime.runs.list({ status: "done" as never }), TypeError);
      throws(() => void runtime.runs.list({ text: "" }), RangeError);
      const page = await runtime.runs.list({ limit: 1 });
      equal([page.items.length, page.next === null], [1, false], "the first page");
      const next = await runtime.runs.list({ limit: 1, ...(page.next === null ? {} : { after: page.next }) });
      check(next.items[0]?.id !== page.items[0]?.id, "the second page must have another run");
    },
  },
  {
    name: "the same run id is the same run, and another question is an IdReusedError",
    needs: ["runs"],
    async run({ rlm }) {
      const id = uniqueId("r");
      const query = "code: import os; FINAL(os.urandom(8).hex())";
      const start = () => rlm({ mode: "rlm" }).run({ id, query, context: "same" });
      const [one, two] = [start(), start()];
      equal([one.id, two.id], [id, id], "the ids");
      const result = await one;
      equal(await two, result, "the second result");
      equal(await start(), result, "the result of a call after its end");
      await rejects(rlm({ mode: "rlm" }).run({ id, query: "say: other", context: "same" }), IdReusedError, { id });
      await rejects(rlm({ mode: "rlm" }).run({ id, query, context: "other" }), IdReusedError, { id });
    },
  },
  {
    name: "the same run id with the same streamed context is the same run",
    needs: ["runs"],
    async run({ rlm }) {
      const id = uniqueId("r");
      const query = "code: import os; FINAL(os.urandom(8).hex())";
      const start = (text: string) => rlm({ mode: "rlm" }).run({ id, query, context: { text: new Blob([text]) } });
      const result = await start("same");
      equal(await start("same"), result, "the second result");
      await rejects(start("other"), IdReusedError, { id });
    },
  },
  {
    name: "questions, limits and contexts that cannot be used throw at once",
    needs: ["runs"],
    async run({ rlm }) {
      const wrong = (value: unknown): never => value as never;
      const { run } = { run: (request: object) => rlm().run(wrong(request)) };
      for (const query of [undefined, "", "  ", 1]) throws(() => run({ query }), TypeError);
      throws(() => run({ query: "say: x", contxt: "x" }), TypeError, /'contxt'.*'context'/);
      throws(() => run({ query: "say: x", limits: { token: 1 } }), TypeError, /'token'.*'tokens'/);
      throws(() => run({ query: "say: x", limits: { tokens: -1 } }), RangeError);
      throws(() => run({ query: "say: x", limits: { maxIterations: 0 } }), RangeError);
      throws(() => run({ query: "say: x", mode: "fast" }), TypeError);
      throws(() => run({ query: "say: x", onLimit: "maybe" }), TypeError);
      throws(() => run({ query: "say: x", onlimit: "throw" }), TypeError, /'onlimit'.*'onLimit'/);
      throws(() => run({ query: "say: x", id: "a b" }), RangeError);
      throws(() => run({ query: "say: x", signal: {} }), TypeError);
      throws(() => run({ query: "say: x", context: 1 }), TypeError);
      for (const text of [5, null, {}, "half \uD800"])
        throws(() => run({ query: "say: x", context: { text } }), TypeError);
      throws(() => run({ query: "say: x", context: { a: { text: 5 } } }), TypeError);
      throws(() => run({ query: "say: x", context: "half \uD800" }), TypeError);
      throws(() => run({ query: "say: x", context: { text: "x", as: "yaml" } }), TypeError);
      const [x, file] = [{ content: "x" }, { name: "a", content: "x" }];
      for (const files of [[x], [file, x], [{ name: 1, ...x }], [{ name: "a" }], [null]])
        throws(() => run({ query: "say: x", context: { files } }), TypeError);
      throws(() => run({ query: "say: x", context: { files: [file, file] } }), RangeError, /named 'a'/);
      throws(() => run({ query: "say: x", context: { one: { files: [file, file] } } }), RangeError, /named 'a'/);
      throws(() => run({ query: "say: x", context: { files: [file], folder: 5 } }), TypeError);
      throws(() => run({ query: "say: x", context: { "not a name": "x" } }), RangeError);
      throws(() => rlm({ onLimit: wrong("maybe") }), TypeError);
      throws(() => rlm({ mode: wrong("fast") }), TypeError);
      throws(() => rlm({ limits: { tokens: wrong("many") } }), RangeError);
    },
  },
  {
    name: "a run whose model cannot answer fails, and says why",
    needs: ["runs", "shell"],
    async run({ rlm, runtime }) {
      const result = await rlm({ mode: "rlm", limits: { maxIterations: 1 } }).run({ query: "code: 1 / 0" });
      matches(result, { status: "partial", answer: BEST_SO_FAR });
      await rejects(runtime.runs.get(uniqueId("none")).info(), RunNotFoundError);
    },
  },
];
