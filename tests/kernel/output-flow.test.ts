import { expect, test } from "vitest";
import { OutputFlow, type FlowState } from "../../src/kernel/output-flow.ts";
import { deferred } from "../../src/util/async/deferred.ts";

const STREAMS = ["stdout", "stderr"] as const;

function open(): { readonly flow: OutputFlow; readonly paused: Set<string>; readonly released: FlowState[][] } {
  const paused = new Set<string>();
  const released: FlowState[][] = [];
  const worker = {
    pauseOutput: (stream: string) => void paused.add(stream),
    resumeOutput: (stream: string) => void paused.delete(stream),
  };
  const flow = new OutputFlow(worker, () => released.push(STREAMS.map((stream) => flow.stateOf(stream))));
  return { flow, paused, released };
}

test("OutputFlow holds one stream and not the other", async () => {
  const { flow, paused, released } = open();
  const taken = deferred();
  flow.hold("stdout", 1, taken.promise);
  expect([[...paused], STREAMS.map((stream) => flow.stateOf(stream))]).toEqual([["stdout"], ["held", "open"]]);
  taken.resolve();
  await flow.untilFree();
  expect([paused.size, released]).toEqual([0, [["open", "open"]]]);
});

test("OutputFlow releases both streams of one place together, when the last promise settles", async () => {
  const { flow, paused, released } = open();
  const [first, second] = [deferred(), deferred()];
  flow.hold("both", 1, first.promise);
  flow.hold("both", 1, second.promise);
  first.resolve();
  await first.promise;
  expect([paused.size, released]).toEqual([2, []]);
  expect(STREAMS.map((stream) => flow.stateOf(stream))).toEqual(["both-held", "both-held"]);
  second.resolve();
  await flow.untilFree();
  expect([paused.size, released]).toEqual([0, [["open", "open"]]]);
});
