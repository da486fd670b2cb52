import { expect, test } from "vitest";
import { parseRunEvent } from "../../src/protocol/run-events.ts";
import { smallRun, toRunId } from "../store/runs/recorded-run.ts";

const EVENTS = smallRun(toRunId("r-1"));

test.each(EVENTS.map((event) => [event.type, event] as const))(
  "%s is an event, also with fields that are new",
  (_, event) => {
    const fromLater = { ...(JSON.parse(JSON.stringify(event)) as object), isNew: true };
    expect(parseRunEvent(fromLater)).toBe(fromLater);
  },
);

test.each(EVENTS.map((event) => [event.type, event] as const))(
  "%s is no event without one of its fields",
  (_, event) => {
    const optional = new Set(["args", "result"].filter(() => event.type.startsWith("tool-call")));
    for (const name of Object.keys(event).filter((key) => !optional.has(key))) {
      expect(parseRunEvent({ ...event, [name]: undefined }), name).toBeNull();
      expect(parseRunEvent({ ...event, [name]: Symbol("wrong") }), name).toBeNull();
    }
  },
);

test("a tool may return nothing", () => {
  const end = {
    type: "tool-call-end",
    runId: "r-1",
    seq: 1,
    time: 1,
    nodeId: "n0",
    callId: "t1",
    ok: true,
    durationMs: 1,
  };
  expect(parseRunEvent(end)).toBe(end);
});

test.each([null, [], "run-start", { type: "run-started" }, { type: "__proto__" }])("%j is no event", (value) => {
  expect(parseRunEvent(value)).toBeNull();
});
