import { expect, test, vi } from "vitest";
import type { Session } from "../../internals.ts";
import { NodeSession } from "../../../src/rlm/session/node-session.ts";
import { strategies } from "../../../src/rlm/strategy/strategies.ts";

test("is discarded the moment its signal is aborted: code that ignores interrupts takes no time of the answer", () => {
  const discard = vi.fn(async () => {});
  const controller = new AbortController();
  const { signal } = controller;
  const settings = { strategy: strategies.frontier, tools: [], context: [], cellTimeoutMs: 1000, signal };
  void new NodeSession({ discard } as unknown as Session, settings);
  expect(discard).not.toHaveBeenCalled();
  controller.abort();
  expect(discard).toHaveBeenCalledOnce();
});
