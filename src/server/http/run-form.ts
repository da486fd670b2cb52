// A run whose context comes as a form: the request as JSON first, then each part of the context, streamed into one anonymous file.

import { createHash } from "node:crypto";
import * as schemas from "../../protocol/api/runs.ts";
import type { ContextValue } from "../../rlm/context/context-items.ts";
import { OVERLOADED, parseJSONBytes, parseValue, tooLarge } from "../net/bodies/body.ts";
import { parseMultipart, toInvalidForm, type Part } from "../net/bodies/multipart.ts";
import type { Spool, SpooledFile } from "../net/bodies/spool.ts";
import type { Reservation } from "../net/memory-budget.ts";
import { ProblemError } from "../net/problem.ts";

type FormRequest = ReturnType<typeof schemas.runFormRequest.parse>;
type Named = NonNullable<FormRequest["parts"]>[number];
type Variables = Readonly<Record<string, ContextValue>>;

interface ReceivedPart extends Pick<Part, "name" | "fileName"> {
  readonly range: { readonly offset: number; readonly length: number; readonly digest: string };
}

/** Dispose it when nothing reads the context any more. */
export interface RunForm extends AsyncDisposable {
  readonly request: Omit<FormRequest, "parts">;
  /** What makes two forms the same request, beside `request`. */
  readonly parts: readonly unknown[];
  readonly variables: Variables;
}

interface FormOptions {
  readonly type: string | null;
  readonly spool: Spool;
  readonly maxBytes: number;
  /** For the request. */
  readonly memory: Reservation;
}

const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** Throws a ProblemError for a form that is wrong, and what `Spool.receive` throws; nothing is left then. */
export async function receiveRunForm(
  content: AsyncIterable<Uint8Array>,
  { type, spool, maxBytes, memory }: FormOptions,
): Promise<RunForm> {
  const received: ReceivedPart[] = [];
  let form: FormRequest | undefined;
  const store = async function* (): AsyncGenerator<Uint8Array, void> {
    let offset = 0;
    for await (const part of parseMultipart(content, type)) {
      if (form === undefined) {
        form = await readRequest(part, memory);
        continue;
      }
      const hash = createHash("sha256");
      let length = 0;
      for await (const chunk of part.content) {
        hash.update(chunk);
        length += chunk.length;
        yield chunk;
      }
      const { name, fileName } = part;
      received.push({ name, fileName, range: { offset, length, digest: hash.digest("base64") } });
      offset += length;
    }
  };
  const file = await spool.receive(store(), maxBytes);
  try {
    if (form === undefined) throw invalid("its first part must be named 'request'");
    return toForm(form, received, file);
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}

async function readRequest({ name, content }: Part, memory: Reservation): Promise<FormRequest> {
  if (name !== "request") throw invalid(`its first part must be named 'request', not '${name.slice(0, 100)}'`);
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of content) {
    total += chunk.length;
    if (total > MAX_REQUEST_BYTES) throw new ProblemError(tooLarge(MAX_REQUEST_BYTES));
    if (!memory.tryGrow(chunk.length)) throw new ProblemError(OVERLOADED);
    chunks.push(Buffer.from(chunk));
  }
  const parsed = parseJSONBytes(Buffer.concat(chunks));
  const form = "problem" in parsed ? parsed : parseValue(parsed.value, schemas.runFormRequest, "body");
  if ("problem" in form) throw new ProblemError(form.problem);
  return form.value;
}

function toForm(
  { parts: named = [], ...request }: FormRequest,
  received: readonly ReceivedPart[],
  file: SpooledFile,
): RunForm {
  const byPart = new Map<string, Named>();
  for (const one of named) {
    if (byPart.has(one.part)) throw invalid(`\`parts\` names '${one.part}' twice`);
    byPart.set(one.part, one);
  }
  const variables = { ...toNamed(named, received, file), ...toUnnamed(byPart, received, file) };
  for (const name of received.filter((one) => !byPart.has(one.name)).map((one) => one.name))
    if (named.some(({ variable }) => variable === name)) throw invalid(`variable '${name}' comes twice`);
  if (request.context !== undefined && Object.hasOwn(variables, "context"))
    throw invalid("variable 'context' comes twice: in the request, and as a part");
  return {
    request,
    parts: [
      named,
      received.map(({ name, fileName = null, range: { length, digest } }) => [name, fileName, length, digest]),
    ],
    variables,
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

/** Parts that `parts` of the request describes, in its order. */
function toNamed(named: readonly Named[], received: readonly ReceivedPart[], { path }: SpooledFile): Variables {
  const values = new Map<string, ContextValue>();
  for (const one of named) {
    const { part, variable } = one;
    const [found, ...others] = received.filter(({ name }) => name === part);
    if (found === undefined) throw invalid(`part '${part}' is missing`);
    if (others.length > 0) throw invalid(`part '${part}' comes twice`);
    const before = values.get(variable);
    if ("file" in one) values.set(variable, addFile(variable, before, { name: one.file, path, range: found.range }));
    else if (before === undefined) values.set(variable, { file: path, as: one.as, range: found.range });
    else throw invalid(`variable '${variable}' comes twice`);
  }
  return Object.fromEntries(values);
}

/** Other parts are variables of their own names; several of one name, with file names, are a dict. */
function toUnnamed(
  byPart: ReadonlyMap<string, Named>,
  received: readonly ReceivedPart[],
  { path }: SpooledFile,
): Variables {
  const rest = received.filter(({ name }) => !byPart.has(name));
  const values = new Map<string, ContextValue>();
  for (const { name, fileName, range } of rest) {
    const isDict = rest.filter((one) => one.name === name).length > 1;
    if (!isDict) values.set(name, { file: path, range });
    else if (fileName === undefined) throw invalid(`variable '${name}' comes twice, and not as files`);
    else values.set(name, addFile(name, values.get(name), { name: fileName, path, range }));
  }
  return Object.fromEntries(values);
}

type Files = Extract<ContextValue, { readonly files: unknown }>["files"];

function addFile(variable: string, before: ContextValue | undefined, file: Files[number]): ContextValue {
  if (before === undefined) return { files: [file] };
  if (typeof before === "string" || !("files" in before)) throw invalid(`variable '${variable}' comes twice`);
  if (before.files.some(({ name }) => name === file.name))
    throw invalid(`variable '${variable}' has two files named '${file.name.slice(0, 100)}'`);
  return { files: [...before.files, file] };
}

function invalid(why: string): ProblemError {
  return new ProblemError(toInvalidForm(why));
}
