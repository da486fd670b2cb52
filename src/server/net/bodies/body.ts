// Reads and parses request bodies, within a size limit and the memory budget.

import { z } from "zod";
import { didYouMean } from "../../../util/text/did-you-mean.ts";
import type { Reservation } from "../memory-budget.ts";
import type { Problem } from "../problem.ts";
import { parseStrictJSON } from "./strict-json.ts";

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** `message`: of a WebSocket. */
type Part = "body" | "query" | "message";

export type Parsed<Value> = { readonly value: Value } | { readonly problem: Problem };

export async function parseBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  memory: Reservation,
  maxBytes = MAX_BODY_BYTES,
): Promise<Parsed<z.output<Schema>>> {
  const json = await readJSON(request, memory, maxBytes, { empty: "{}" });
  if ("problem" in json) return json;
  return parseValue(json.value, schema, "body");
}

/** `part` is named in the problem. */
export function parseValue<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
  part: Part,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { value: parsed.data } : { problem: invalid(describe(parsed.error, part, schema), part) };
}

/** The caller releases `memory`. `empty`: the JSON that an empty body stands for. */
export async function readJSON(
  request: Request,
  memory: Reservation,
  maxBytes: number,
  { empty = "" }: { readonly empty?: string } = {},
): Promise<Parsed<unknown>> {
  const bytes = await readBytes(request, memory, maxBytes);
  return "problem" in bytes ? bytes : parseJSONBytes(bytes.value, { empty });
}

/** `empty`: the JSON that no bytes stand for. */
export function parseJSONBytes(bytes: Buffer, { empty = "" }: { readonly empty?: string } = {}): Parsed<unknown> {
  try {
    const text = bytes.length === 0 ? empty : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { value: parseStrictJSON(text) };
  } catch (error) {
    return { problem: invalid(error instanceof SyntaxError ? error.message : "The body is not JSON in UTF-8") };
  }
}

export async function readBytes(
  request: Request,
  memory: Reservation,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<Parsed<Buffer>> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > maxBytes) return { problem: tooLarge(maxBytes) };
  if (!memory.tryGrow(announced)) return { problem: OVERLOADED };
  try {
    return await readLimited(request, memory, maxBytes);
  } catch {
    return { problem: INCOMPLETE_BODY };
  }
}

/** Stops reading at the limit. */
async function readLimited(request: Request, memory: Reservation, maxBytes: number): Promise<Parsed<Buffer>> {
  if (request.headers.has("content-length")) {
    // Node's parser delivers no more than was announced, and reading it whole costs a tenth of a stream.
    const bytes = Buffer.from(await request.arrayBuffer());
    return bytes.length > maxBytes ? { problem: tooLarge(maxBytes) } : { value: bytes };
  }
  const chunks: Uint8Array[] = [];
  let total = 0;
  if (request.body === null) return { value: Buffer.alloc(0) };
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    total += chunk.length;
    if (total > maxBytes) return { problem: tooLarge(maxBytes) };
    if (!memory.tryGrow(chunk.length)) return { problem: OVERLOADED };
    chunks.push(chunk);
  }
  return { value: Buffer.concat(chunks) };
}

/** Names the first invalid field. */
function describe(error: z.ZodError, part: Part, schema: z.ZodType): string {
  const name = part === "query" ? "Parameter" : "Field";
  const [issue] = error.issues;
  if (issue === undefined) return `The ${part} does not have the right form`;
  if (issue.code === "unrecognized_keys") {
    const [unknown = ""] = issue.keys;
    const meant = issue.path.length === 0 ? didYouMean(unknown, fieldsOf(schema)) : undefined;
    return `There is no ${name.toLowerCase()} '${unknown}'${meant === undefined ? "" : `. Did you mean '${meant}'?`}`;
  }
  const inner = issue.code === "invalid_key" ? issue.issues[0] : undefined;
  const field = issue.path.join(".");
  const problem = (inner ?? issue).message.replace(/^Invalid input: /, "");
  if (field !== "" && problem.endsWith("received undefined")) return `${name} '${field}' is missing`;
  return field === "" ? `The ${part} is wrong: ${problem}` : `${name} '${field}' is wrong: ${problem}`;
}

function fieldsOf(schema: z.ZodType): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function invalid(detail: string, part: Part = "body"): Problem {
  return { status: 422, code: `INVALID_${part.toUpperCase()}`, detail };
}

/** The client has disconnected, or its framing is broken. */
export const INCOMPLETE_BODY: Problem = {
  status: 400,
  code: "MALFORMED",
  detail: "The body ended early",
  headers: { connection: "close" },
};

export const OVERLOADED: Problem = {
  status: 503,
  code: "OVERLOADED",
  detail: "The server reads too many large bodies already",
  headers: { "retry-after": "1", connection: "close" },
};

/** Closes the connection: the rest of the body is not read. */
export function tooLarge(maxBytes: number): Problem {
  const detail = `The body is larger than ${maxBytes / 1024 / 1024} MiB`;
  return { status: 413, code: "BODY_TOO_LARGE", detail, headers: { connection: "close" } };
}
