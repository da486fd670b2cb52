// Replies of many families of models, from the stream of a backend to what the node does with them.

import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { ScriptedBackend } from "../../../src/backends/scripted/scripted.ts";
import { ReplyReader, type Reading } from "../../../src/rlm/reply/reply-reader.ts";
import { aRequest } from "../../backends/describe-backend.ts";
import { PYTHON } from "../../open.ts";
import { replies, type RealisticReply } from "./replies.ts";

function isComplete(code: string): boolean {
  const check = "import ast, sys; ast.parse(sys.stdin.read())";
  return spawnSync(PYTHON, ["-I", "-S", "-c", check], { input: code }).status === 0;
}

async function read({ reply: text, finishReason = "stop" }: RealisticReply): Promise<Reading & { reasoning: string }> {
  const reader = new ReplyReader({
    isComplete,
    readFinal: (source) => Promise.resolve({ kind: "answer", text: source }),
  });
  const outcome = await new Dispatcher({ maxTries: 1 }).call(
    new ScriptedBackend([{ text, finishReason }]),
    aRequest(),
    {
      signal: new AbortController().signal,
      toolCalls: "text",
      onPart: (part) => {
        if (part.type === "reclassify") reader.restart();
        if ((part.type !== "text-delta" && part.type !== "reclassify") || part.text === "") return undefined;
        return reader.push(part.text) ? "cut" : undefined;
      },
    },
  );
  if (!outcome.ok) throw outcome.error;
  const { reasoning, finishReason: ended } = outcome;
  const reading = await reader.end({ text: outcome.text, reasoning, finishReason: ended === "cut" ? "stop" : ended });
  return { ...reading, reasoning };
}

function toExpected({ reads }: RealisticReply): object {
  if ("code" in reads) return { kind: "code", code: reads.code };
  if ("variable" in reads) return { kind: "variable", name: reads.variable };
  if ("final" in reads) return { kind: "answer", text: reads.final };
  return { kind: "nothing", reason: reads.nothing };
}

describe("a reply", () => {
  test.each(replies.map((reply) => [reply.family, reply] as const))("is read: %s", async (_, reply) => {
    expect(await read(reply)).toMatchObject(toExpected(reply));
  });

  test("says something to the model where nothing is run", async () => {
    for (const reply of replies.filter(({ reads }) => "nothing" in reads)) {
      expect(await read(reply)).toMatchObject({ hint: expect.stringMatching(/Write|FINAL|brief|steps/) });
    }
  });
});
