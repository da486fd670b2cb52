// The contract of every backend, as one suite that each of them runs.

import { describe, expect, test } from "vitest";
import type { Backend, BackendRequest, StreamPart } from "../../src/backends/backend.ts";
import type { ReportedUsage } from "../../src/protocol/usage.ts";
import { BackendConnectionError } from "../../src/errors.ts";

export interface ContractReply {
  readonly text?: readonly string[];
  readonly reasoning?: readonly string[];
  readonly finish?: "stop" | "length" | "refusal";
  readonly usage?: ReportedUsage | null;
  /** `silent`: nothing ever comes. `hangs`: nothing comes after the text. */
  readonly fault?: "silent" | "hangs" | "rate-limit" | "cut";
}

export interface OpenedBackend extends AsyncDisposable {
  readonly backend: Backend;
  readonly model: string;
  /** Sets the reply to the next request. */
  plan(reply: ContractReply): void;
  /** Requests that arrived. */
  requests(): number;
  /** Resolves when a request has arrived. */
  asked(): Promise<void>;
  /** Resolves when the server sees that an unfinished request was closed. */
  left(): Promise<void>;
}

export interface Capabilities {
  /** False: usage is always reported. */
  readonly canHideUsage: boolean;
  readonly countsCacheWrites: boolean;
  /** False: a refusal ends like an answer. Default: true. */
  readonly reportsRefusals?: boolean;
  /** False: it does not say when a request is accepted. Default: true. */
  readonly reportsStart?: boolean;
  /** True: neither cached nor reasoning tokens are counted apart. Default: false. */
  readonly countsOnlyTotals?: boolean;
  /** False: reasoning is counted and not shown. Default: true. */
  readonly showsReasoning?: boolean;
}

const usage = { inputTokens: 120, outputTokens: 30, cacheReadTokens: 100, cacheWriteTokens: 0, reasoningTokens: 7 };

export function describeBackend(
  name: string,
  options: { readonly open: () => Promise<OpenedBackend>; readonly capabilities: Capabilities },
): void {
  const { open, capabilities } = options;

  describe(`${name} as a backend`, () => {
    test("streams the text in order, then one end", async () => {
      await using opened = await open();
      opened.plan({ text: ["Hel", "lo, ", "wörld 🌍"], usage });
      const parts = await collect(opened);
      expect(textOf(parts)).toBe("Hello, wörld 🌍");
      expect(parts.filter(({ type }) => type === "end")).toEqual([parts.at(-1)]);
      const counted =
        capabilities.countsOnlyTotals === true ? { ...usage, cacheReadTokens: 0, reasoningTokens: 0 } : usage;
      expect(parts.at(-1)).toEqual({ type: "end", finishReason: "stop", usage: counted });
    });

    test("keeps reasoning apart from the text", async ({ skip }) => {
      if (capabilities.showsReasoning === false) return skip("it does not show reasoning");
      await using opened = await open();
      opened.plan({ reasoning: ["first ", "this"], text: ["answer"] });
      const parts = await collect(opened);
      expect([textOf(parts), textOf(parts, "reasoning-delta")]).toEqual(["answer", "first this"]);
    });

    test.for(["stop", "length", "refusal"] as const)("reports that it ended by %s", async (finish, { skip }) => {
      if (finish === "refusal" && capabilities.reportsRefusals === false) return skip("it does not report refusals");
      await using opened = await open();
      opened.plan({ text: ["some"], finish });
      expect((await collect(opened)).at(-1)).toMatchObject({ type: "end", finishReason: finish });
    });

    test("counts cache writes", async ({ skip }) => {
      if (!capabilities.countsCacheWrites) return skip("its protocol does not report them");
      await using opened = await open();
      opened.plan({ text: ["a"], usage: { ...usage, cacheWriteTokens: 15 } });
      expect((await collect(opened)).at(-1)).toMatchObject({ usage: { ...usage, cacheWriteTokens: 15 } });
    });

    test("reports null for usage that it does not know", async ({ skip }) => {
      if (!capabilities.canHideUsage) return skip("its protocol always reports usage");
      await using opened = await open();
      opened.plan({ text: ["a"], usage: null });
      expect((await collect(opened)).at(-1)).toEqual({ type: "end", finishReason: "stop", usage: null });
    });

    test("ends an empty answer like any other", async () => {
      await using opened = await open();
      opened.plan({});
      const before: readonly string[] = ["response-start", "input-usage"];
      expect((await collect(opened)).filter(({ type }) => !before.includes(type))).toHaveLength(1);
    });

    test("begins with the start of the response", async ({ skip }) => {
      if (capabilities.reportsStart === false) return skip("it has no requests that could be accepted");
      await using opened = await open();
      opened.plan({ text: ["a"] });
      const parts = await collect(opened);
      expect(parts.filter(({ type }) => type === "response-start")).toEqual([parts[0]]);
    });

    test("closes the request when the reader leaves at its start", async () => {
      await using opened = await open();
      opened.plan({ text: ["beginning"], fault: "hangs" });
      for await (const _ of stream(opened)) break;
      await opened.left();
    });

    test("makes no request when the signal is already aborted", async () => {
      await using opened = await open();
      const reason = new Error("not needed");
      await expect(collect(opened, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(opened.requests()).toBe(0);
    });

    test("throws the signal's reason when aborted before the answer, and closes the request", async () => {
      await using opened = await open();
      opened.plan({ fault: "silent" });
      const controller = new AbortController();
      const reason = new Error("enough");
      const collecting = collect(opened, { signal: controller.signal }).catch((thrown: unknown) => thrown);
      await opened.asked();
      controller.abort(reason);
      expect(await collecting).toBe(reason);
      await opened.left();
    });

    test("throws the signal's reason when aborted within the answer, and closes the request", async () => {
      await using opened = await open();
      opened.plan({ text: ["beginning"], fault: "hangs" });
      const controller = new AbortController();
      const reason = { any: "value" };
      const parts: string[] = [];
      const reading = (async () => {
        for await (const part of stream(opened, { signal: controller.signal })) {
          parts.push(part.type);
          if (part.type === "text-delta") controller.abort(reason);
        }
      })();
      await expect(reading).rejects.toBe(reason);
      expect(parts).toContain("text-delta");
      await opened.left();
    });

    test("closes the request when the reader leaves", async () => {
      await using opened = await open();
      opened.plan({ text: ["beginning"], fault: "hangs" });
      for await (const part of stream(opened)) if (part.type === "text-delta") break;
      await opened.left();
    });

    test("throws a BackendConnectionError for a request that is turned away", async () => {
      await using opened = await open();
      opened.plan({ fault: "rate-limit" });
      const error = await collect(opened).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(BackendConnectionError);
      expect(error).toMatchObject({
        backend: opened.backend.name,
        fault: "rate-limit",
        status: 429,
        retryable: true,
        retryAfterMs: 2000,
      });
    });

    test("yields what arrived before a stream was cut off, then throws", async () => {
      await using opened = await open();
      opened.plan({ text: ["begin", "ning"], fault: "cut" });
      const parts: StreamPart[] = [];
      const reading = (async () => {
        for await (const part of stream(opened)) parts.push(part);
      })();
      await expect(reading).rejects.toMatchObject({ fault: "connection", retryable: true });
      expect(textOf(parts)).toBe("beginning");
    });

    test("keeps concurrent calls apart", async () => {
      await using opened = await open();
      opened.plan({ text: ["the ", "same ", "for ", "all"] });
      const texts = await Promise.all(Array.from({ length: 8 }, async () => textOf(await collect(opened))));
      expect(new Set(texts)).toEqual(new Set(["the same for all"]));
    });
  });
}

export function aRequest(fields: Partial<BackendRequest> = {}): BackendRequest {
  return { model: "a-model", messages: [{ role: "user", content: "a question" }], ...fields };
}

function stream(
  { backend, model }: Pick<OpenedBackend, "backend" | "model">,
  options: { readonly signal?: AbortSignal } = {},
): AsyncIterable<StreamPart> {
  return backend.stream(aRequest({ model }), { signal: options.signal ?? new AbortController().signal });
}

async function collect(opened: OpenedBackend, options: { readonly signal?: AbortSignal } = {}): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of stream(opened, options)) parts.push(part);
  return parts;
}

function textOf(parts: readonly StreamPart[], type = "text-delta"): string {
  return parts.flatMap((part) => (part.type === type && "text" in part ? [part.text] : [])).join("");
}

export const rateLimited = {
  error: { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 5000 },
} as const;
export const failing = { error: { fault: "server", status: 500, retryable: true } } as const;
