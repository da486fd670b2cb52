// What is recorded of a run, looked at in parts.

import { FileError, RunNotFoundError, TokenBudgetExhausted } from "../../../errors.ts";
import { check, equal, matches, rejects, throws } from "../asserts.ts";
import { uniqueId, type ContractCase } from "../case.ts";
import { collect } from "../drive.ts";

export const RUN_RECORDS: readonly ContractCase[] = [
  {
    name: "the outline of a run has its nodes and what took time, and its events are read by range",
    needs: ["runs"],
    async run({ rlm, other }) {
      const run = rlm({ mode: "rlm" }).run({ query: "code: print('x' * 5000); FINAL('done')" });
      await run;
      const outline = await run.outline();
      matches(outline, { runId: run.id, query: "code: print('x' * 5000); FINAL('done')", lostLines: 0, omitted: 0 });
      matches(outline.nodes[0], { id: "n0", parentId: null, status: "final", answer: "done", steps: 1, llmCalls: 1 });
      equal(
        outline.spans.map(({ kind, nodeId, step, ok }) => [kind, nodeId, step, ok]),
        [
          ["model", "n0", 1, true],
          ["code", "n0", 1, true],
        ],
        "the spans",
      );
      equal(await other.runs.get(run.id).outline(), outline, "the outline that another gets");
      const { events, next } = await run.eventPage();
      equal([events[0]?.type, events.at(-1)?.type, next], ["run-start", "run-end", null], "the page of all events");
      const short = await run.eventPage({ limit: 1 });
      equal([short.events.length, short.next], [1, short.events[0]?.seq], "a page of one event");
      const inStep = await run.eventPage({ nodeId: "n0", step: 1, after: short.next ?? 0 });
      check(inStep.events.length > 3, "a step has several events");
      check(
        inStep.events.every((event) => event["nodeId"] === "n0"),
        "all events are of the node",
      );
      const ended = inStep.events.find(({ type }) => type === "code-end") as unknown as {
        readonly result: { readonly stdout: { readonly $blob: string } };
      };
      const { $blob: hash } = ended.result.stdout;
      equal(new TextDecoder().decode(await run.blob(hash)), `${"x".repeat(5000)}\n`, "a long text");
      const none = "0".repeat(64);
      await rejects(run.blob(none), FileError, { code: "FILE", path: none, reason: "not-found" });
      throws(() => void run.blob("../meta.json"), RangeError);
      throws(() => void run.eventPage({ limit: 0 }), RangeError);
      throws(() => void run.eventPage({ step: 1 }), TypeError);
      await rejects(other.runs.get(uniqueId("r")).outline(), RunNotFoundError);
      await rejects(other.runs.get(uniqueId("r")).eventPage(), RunNotFoundError);
    },
  },
  {
    name: "a run is searched for a text, also in parts",
    needs: ["runs"],
    async run({ rlm, other }) {
      const run = rlm({ mode: "rlm" }).run({ query: "code: print('y' * 5000, 'Straße'); FINAL('done')" });
      await run;
      const all = await run.search("STRAßE");
      equal(all.next, null, "where to go on");
      const fields = all.matches.map(({ field }) => field);
      equal(fields.toSorted(), ["code", "observation", "output", "prompt", "query", "reply"], "where it is");
      const output = all.matches.find(({ field }) => field === "output");
      matches(output, { nodeId: "n0", step: 1, callId: null, stream: "stdout", text: "Straße", after: "\n" });
      let found: (typeof all)["matches"] = [];
      for (let after: number | null = 0; after !== null;) {
        const part = await other.runs.get(run.id).search("straße", { after, limit: 1 });
        found = [...found, ...part.matches];
        after = part.next;
      }
      equal(found, all.matches, "the matches of all parts");
      equal(await run.search("nowhere to be found"), { matches: [], next: null }, "a text that is not there");
      const reason = new Error("enough");
      const aborted = await rejects(run.search("x", { signal: AbortSignal.abort(reason) }), Error);
      check(aborted === reason, "a search that is aborted must reject with the reason");
      throws(() => void run.search(""), RangeError);
      throws(() => void run.search("x".repeat(501)), RangeError);
      throws(() => void run.search(1 as never), TypeError);
      await rejects(other.runs.get(uniqueId("r")).search("x"), RunNotFoundError);
    },
  },
  {
    name: "a run is followed from any of its events, until it ends or the reader stops",
    needs: ["runs"],
    async run({ rlm, other }) {
      const run = rlm({ mode: "rlm" }).run({ query: "code: print('seen'); FINAL('done')" });
      const all = await collect(run);
      const middle = all[3]?.seq ?? 0;
      equal(await collect(run.follow()), all, "all events");
      equal(await collect(run.follow({ after: middle })), all.slice(4), "the events after one of them");
      equal(await collect(other.runs.get(run.id).follow({ after: all.at(-1)?.seq })), [], "those after the last one");
      const stopping = new AbortController();
      const waiting = rlm({ mode: "rlm" }).run({ query: "wait" });
      const reason = new Error("enough");
      const reading = (async () => {
        for await (const event of waiting.follow({ signal: stopping.signal }))
          if (event.type === "model-call-start") stopping.abort(reason);
      })();
      check((await rejects(reading, Error)) === reason, "aborting must throw the reason");
      matches(await waiting.info(), { status: "running" });
      await waiting.cancel();
      const limited = rlm({ mode: "rlm", onLimit: "throw" }).run({ query: "code: 1", limits: { tokens: 1 } });
      equal((await collect(limited.follow())).at(-1)?.type, "run-end", "the last event of a run that rejects");
      await rejects(limited, TokenBudgetExhausted);
      throws(() => void run.follow({ after: -1 }), RangeError);
      await rejects(collect(other.runs.get(uniqueId("r")).follow()), RunNotFoundError);
    },
  },
];
