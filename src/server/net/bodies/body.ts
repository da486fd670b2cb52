// A request body on its way from bytes to a value that can be trusted. It is bounded while it is read.

import type { z } from "zod";
import type { Hold } from "../memory-budget.ts";
import type { Problem } from "../problem.ts";
import { parseStrictJSON } from "./strict-json.ts";

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** What a client sends. A message is one of a WebSocket's. */
type Part = "body" | "query" | "message";

export type Parsed<Value> = { readonly value: Value } | { readonly problem: Problem };

export async function parseBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  hold: Hold,
  maxBytes = MAX_BODY_BYTES,
): Promise<Parsed<z.output<Schema>>> {
  const json = await readJSON(request, hold, maxBytes, { empty: "{}" });
  if ("problem" in json) return json;
  return parseValue(json.value, schema, "body");
}

/** What of a request it is, is named in the problem. */
export function parseValue<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
  part: Part,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { value: parsed.data } : { problem: invalid(describe(parsed.error, part), part) };
}

/** Whatever JSON it is. `hold`: the memory for it, which is given back by whoever made it. `empty`: what an empty body stands for. */
export async function readJSON(
  request: Request,
  hold: Hold,
  maxBytes: number,
  { empty = "" }: { readonly empty?: string } = {},
): Promise<Parsed<unknown>> {
  const bytes = await readBytes(request, hold, maxBytes);
  if ("problem" in bytes) return bytes;
  try {
    const text = bytes.value.length === 0 ? empty : new TextDecoder("utf-8", { fatal: true }).decode(bytes.value);
    return { value: parseStrictJSON(text) };
  } catch (error) {
    return { problem: invalid(error instanceof SyntaxError ? error.message : "The body is not JSON in UTF-8") };
  }
}

/** A body as it is. */
export async function readBytes(
  request: Request,
  hold: Hold,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<Parsed<Buffer>> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > maxBytes) return { problem: tooLarge(maxBytes) };
  if (!hold.take(announced)) return { problem: NO_ROOM };
  try {
    return await readBounded(request, hold, maxBytes);
  } catch {
    return { problem: incomplete() };
  }
}

/** Where there is more than allowed, the rest is not read. */
async function readBounded(request: Request, hold: Hold, maxBytes: number): Promise<Parsed<Buffer>> {
  if (request.headers.has("content-length")) {
    // Node's parser gives no more than what was announced, and reading it whole costs a tenth of a stream.
    const bytes = Buffer.from(await request.arrayBuffer());
    return bytes.length > maxBytes ? { problem: tooLarge(maxBytes) } : { value: bytes };
  }
  const chunks: Uint8Array[] = [];
  let total = 0;
  if (request.body === null) return { value: Buffer.alloc(0) };
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    total += chunk.length;
    if (total > maxBytes) return { problem: tooLarge(maxBytes) };
    if (!hold.take(chunk.length)) return { problem: NO_ROOM };
    chunks.push(chunk);
  }
  return { value: Buffer.concat(chunks) };
}

/** The first thing that is wrong, with the name of the field. */
function describe(error: z.ZodError, part: Part): string {
  const name = part === "query" ? "Parameter" : "Field";
  const [issue] = error.issues;
  if (issue === undefined) return `The ${part} does not have the right form`;
  if (issue.code === "unrecognized_keys") return `There is no ${name.toLowerCase()} '${issue.keys[0]}'`;
  const inner = issue.code === "invalid_key" ? issue.issues[0] : undefined;
  const field = issue.path.join(".");
  const problem = (inner ?? issue).message.replace(/^Invalid input: /, "");
  if (field !== "" && problem.endsWith("received undefined")) return `${name} '${field}' is missing`;
  return field === "" ? `The ${part} is wrong: ${problem}` : `${name} '${field}' is wrong: ${problem}`;
}

function invalid(detail: string, part: Part = "body"): Problem {
  return { status: 422, code: `INVALID_${part.toUpperCase()}`, detail };
}

/** The client has gone, or its framing is broken: nobody may ever read this. */
function incomplete(): Problem {
  return { status: 400, code: "MALFORMED", detail: "The body ended early", headers: { connection: "close" } };
}

const NO_ROOM: Problem = {
  status: 503,
  code: "OVERLOADED",
  detail: "The server reads too many large bodies already",
  headers: { "retry-after": "1", connection: "close" },
};

/** The rest of the body is not wanted, so neither is the connection that carries it. */
function tooLarge(maxBytes: number): Problem {
  const detail = `The body is larger than ${maxBytes / 1024 / 1024} MiB`;
  return { status: 413, code: "BODY_TOO_LARGE", detail, headers: { connection: "close" } };
}
