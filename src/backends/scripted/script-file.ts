// Scripts in files: `{ "rules": [{ "match": "regular expression", "reply": "text", "times": 2 }] }`.
//
// The first rule that matches the last message and is not used up answers. The name of the model is the path of the file, so that
// `--backend scripted --model demo.json` needs nothing else, and a sub-model can have its own file.

import { finishReason } from "../../protocol/usage.ts";
import { open } from "node:fs/promises";
import { z } from "zod";
import { BackendConnectionError } from "../../errors.ts";
import type { Backend, BackendRequest, StreamPart } from "../backend.ts";
import type { Script, ScriptedAnswer } from "./script.ts";
import { ScriptedBackend } from "./scripted.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;

const answerSchema = z.strictObject({
  text: z.string().optional(),
  reasoning: z.string().optional(),
  delayMs: z.number().min(0).max(600_000).optional(),
  finishReason: finishReason.optional(),
});

const fileSchema = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        /** A regular expression; `.` matches line ends, too. Absent: matches everything. */
        match: z.string().optional(),
        reply: z.union([z.string(), answerSchema]),
        /** How often the rule may answer. Absent: always. */
        times: z.int().min(1).optional(),
      }),
    )
    .max(10_000),
});

/** Each file is read once, with the first call of its model. */
export class ScriptFilesBackend implements Backend {
  readonly name = "scripted";
  readonly #scripts = new Map<string, Promise<ScriptedBackend>>();

  async *stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
    options.signal.throwIfAborted();
    const path = request.model;
    let script = this.#scripts.get(path);
    if (script === undefined) {
      script = readScript(path).then((rules) => new ScriptedBackend(rules));
      this.#scripts.set(path, script);
    }
    yield* (await script).stream(request, options);
  }
}

/** Throws a RangeError that says what is wrong and where. */
export function parseScript(value: unknown): Script {
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) throw new RangeError(`Cannot use this as a script: ${z.prettifyError(parsed.error)}`);
  const rules = parsed.data.rules.map(({ match, reply, times }, index) => ({
    pattern: toPattern(match ?? "", index),
    reply: (typeof reply === "string" ? { text: reply } : reply) as ScriptedAnswer,
    left: times ?? Infinity,
  }));
  return (request) => {
    const last = request.messages.at(-1)?.content ?? "";
    const rule = rules.find(({ pattern, left }) => left > 0 && pattern.test(last));
    if (rule === undefined) throw noScript(`no rule of the script matches ${JSON.stringify(last.slice(0, 80))}`);
    rule.left--;
    return rule.reply;
  };
}

async function readScript(path: string): Promise<Script> {
  try {
    return parseScript(JSON.parse(await readBounded(path)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw noScript(`the model of this backend is the path of a script, and '${path}' cannot be used: ${why}`, error);
  }
}

async function readBounded(path: string): Promise<string> {
  await using file = await open(path);
  const stat = await file.stat();
  if (!stat.isFile()) throw new RangeError("it is not a file");
  const { size } = stat;
  if (size > MAX_FILE_BYTES) throw new RangeError(`it has ${size} bytes, more than ${MAX_FILE_BYTES}`);
  return await file.readFile("utf8");
}

function toPattern(match: string, index: number): RegExp {
  try {
    return new RegExp(match, "s");
  } catch (error) {
    throw new RangeError(`Cannot use 'match' of rule ${index + 1} as a regular expression: '${match}'`, {
      cause: error,
    });
  }
}

function noScript(why: string, cause?: unknown): BackendConnectionError {
  return new BackendConnectionError({ backend: "scripted", fault: "configuration", why, retryable: false }, { cause });
}
