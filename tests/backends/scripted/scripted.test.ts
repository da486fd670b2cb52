import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Backend } from "../../../src/backends/backend.ts";
import { openBackend } from "../../../src/backends/open-backend.ts";
import { parseScript } from "../../../src/backends/scripted/script-file.ts";
import { ScriptedBackend } from "../../../src/backends/scripted/scripted.ts";
import { aRequest } from "../describe-backend.ts";

const never = new AbortController().signal;

test("a script sees the request and the number of earlier calls", async () => {
  const backend = new ScriptedBackend(async ({ messages }, n) => `${n}: ${messages.at(-1)?.content}`);
  expect([await textOf(backend, "a"), await textOf(backend, "b")]).toEqual(["0: a", "1: b"]);
});

test("a list is answered in order, and a call past its end is an error", async () => {
  const backend = new ScriptedBackend(["one", { text: "two" }]);
  expect([await textOf(backend), await textOf(backend)]).toEqual(["one", "two"]);
  await expect(textOf(backend)).rejects.toMatchObject({
    fault: "configuration",
    message: "Cannot get an answer from scripted: the script has 2 answers, and this is call 3",
  });
});

test("text comes in small pieces that never split a character", async () => {
  const text = "🌍".repeat(50);
  const pieces: string[] = [];
  for await (const part of new ScriptedBackend([`x${text}`]).stream(aRequest(), { signal: never })) {
    if (part.type === "text-delta") pieces.push(part.text);
  }
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe(`x${text}`);
  expect(pieces.every((piece) => Buffer.from(piece).toString() === piece)).toBe(true);
});

test("usage is four characters to a token unless it is given", async () => {
  const backend = new ScriptedBackend(["12345678", { text: "a", usage: { inputTokens: 1000 } }]);
  expect([await endOf(backend), await endOf(backend)]).toMatchObject([
    { usage: { inputTokens: 3, outputTokens: 2 } },
    { usage: { inputTokens: 1000, outputTokens: 1 } },
  ]);
});

test("an Error in a script is thrown unchanged", async () => {
  const error = new TypeError("mine");
  await expect(textOf(new ScriptedBackend([{ text: "before", error }]))).rejects.toBe(error);
});

test("in a file the first rule that matches and is not used up answers", async () => {
  const script = parseScript({
    rules: [
      { match: "once", reply: "first", times: 1 },
      { match: "^o.*e$", reply: { text: "second", reasoning: "why", finishReason: "length" } },
      { reply: "else" },
    ],
  });
  const backend = new ScriptedBackend(script);
  expect([await textOf(backend, "once"), await textOf(backend, "o\nnce"), await textOf(backend, "other")]).toEqual([
    "first",
    "second",
    "else",
  ]);
});

test("a message that no rule matches is named in the error", async () => {
  const backend = new ScriptedBackend(parseScript({ rules: [{ match: "^a$", reply: "b" }] }));
  await expect(textOf(backend, "c")).rejects.toMatchObject({
    fault: "configuration",
    message: 'Cannot get an answer from scripted: no rule of the script matches "c"',
  });
});

test.each([[null], [{ rules: [{ reply: 3 }] }], [{ rules: [{ match: "(", reply: "a" }] }], [{ rules: [], more: 1 }]])(
  "%j is no script",
  (value) => {
    expect(() => parseScript(value)).toThrow(RangeError);
  },
);

test("the script in the documents is valid", async () => {
  const [, json = ""] = /```json\n([\s\S]*?)\n```\n\n`match`/.exec(await readFile("docs/backends.md", "utf8")) ?? [];
  const backend = new ScriptedBackend(parseScript(JSON.parse(json)));
  expect(await textOf(backend, "How many lines?")).toBe("```repl\nFINAL(len(context))\n```");
  expect(await textOf(backend, "How many lines?")).toBe("I do not know.");
});

test("the model of the backend `scripted` is the path of a file, each with its own count", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rlm-scripts-"));
  try {
    for (const name of ["a", "b"]) {
      const rules = [{ reply: `${name} first`, times: 1 }, { reply: `${name} then` }];
      await writeFile(join(folder, name), JSON.stringify({ rules }));
    }
    const backend = await openBackend("scripted");
    const ask = (name: string): Promise<string> => textOf(backend, "q", join(folder, name));
    expect([await ask("a"), await ask("b"), await ask("a")]).toEqual(["a first", "b first", "a then"]);
    await expect(ask("missing")).rejects.toMatchObject({ fault: "configuration", retryable: false });
    await expect(ask("../")).rejects.toMatchObject({ fault: "configuration" });
  } finally {
    await rm(folder, { recursive: true });
  }
});

async function textOf(backend: Backend, content = "a question", model = "any"): Promise<string> {
  let text = "";
  const request = aRequest({ model, messages: [{ role: "user", content }] });
  for await (const part of backend.stream(request, { signal: never }))
    if (part.type === "text-delta") text += part.text;
  return text;
}

async function endOf(backend: Backend): Promise<unknown> {
  for await (const part of backend.stream(aRequest(), { signal: never })) if (part.type === "end") return part;
}
