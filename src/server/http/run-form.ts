// A run whose context comes as a form: the request as JSON first, then each part of the context, streamed into one anonymous file.

import * as schemas from "../../protocol/api/runs.ts";
import { OVERLOADED, parseJSONBytes, parseValue, tooLarge } from "../net/bodies/body.ts";
import { parseMultipart, type Part } from "../net/bodies/multipart.ts";
import type { Spool, SpooledFile } from "../net/bodies/spool.ts";
import type { Reservation } from "../net/memory-budget.ts";
import { ProblemError } from "../net/problem.ts";
import { FormValues, invalid } from "./form-values.ts";
import { PartMeter, type ReceivedRange } from "./part-meter.ts";

type FormRequest = ReturnType<typeof schemas.runFormRequest.parse>;
type Named = NonNullable<FormRequest["parts"]>[number];
type Variables = ReturnType<FormValues["toVariables"]>;

interface ReceivedPart extends Pick<Part, "name" | "fileName"> {
  /** Of the files in it, or of all of it. */
  readonly ranges: readonly ReceivedRange[];
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
    let sizes: ReadonlyMap<string, readonly number[]> = new Map();
    for await (const part of parseMultipart(content, type)) {
      if (form === undefined) {
        form = await readRequest(part, memory);
        sizes = sizesOf(form);
        continue;
      }
      const { name, fileName } = part;
      const meter = new PartMeter(offset, sizes.get(name));
      for await (const chunk of part.content) {
        meter.add(chunk);
        offset += chunk.length;
        yield chunk;
      }
      const ranges = meter.end();
      if (ranges === undefined) throw invalid(`part '${name}' has not the size that its files have together`);
      received.push({ name, fileName, ranges });
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

/** Of the files in parts that have several. Throws a ProblemError for too many. */
function sizesOf({ parts = [] }: FormRequest): ReadonlyMap<string, readonly number[]> {
  const packed = parts.flatMap((one) => ("files" in one ? [one] : []));
  const count = packed.reduce((sum, { files }) => sum + files.length, 0);
  if (count > schemas.MAX_FILES) throw invalid(`it has more than ${schemas.MAX_FILES} files`);
  return new Map(packed.map(({ part, files }) => [part, files.map(({ size }) => size)]));
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
      received.map(({ name, fileName = null, ranges }) => [
        name,
        fileName,
        ...ranges.flatMap(({ length, digest }) => [length, digest]),
      ]),
    ],
    variables,
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

/** Parts that `parts` of the request describes, in its order. */
function toNamed(named: readonly Named[], received: readonly ReceivedPart[], { path }: SpooledFile): Variables {
  const byName = groupByName(received);
  const values = new FormValues(path);
  for (const one of named) {
    const { part, variable } = one;
    const [found, ...others] = byName.get(part) ?? [];
    if (found === undefined) throw invalid(`part '${part}' is missing`);
    if (others.length > 0) throw invalid(`part '${part}' comes twice`);
    if ("files" in one) values.addFiles(variable, one.files, found.ranges, one.folder);
    else if ("file" in one) values.addFiles(variable, [{ name: one.file }], found.ranges);
    else values.add(variable, found.ranges, one.as);
  }
  return values.toVariables();
}

/** Other parts are variables of their own names; several of one name, with file names, are a dict. */
function toUnnamed(
  byPart: ReadonlyMap<string, Named>,
  received: readonly ReceivedPart[],
  { path }: SpooledFile,
): Variables {
  const values = new FormValues(path);
  for (const [name, parts] of groupByName(received)) {
    if (byPart.has(name)) continue;
    for (const { fileName, ranges } of parts) {
      if (parts.length === 1) values.add(name, ranges);
      else if (fileName === undefined) throw invalid(`variable '${name}' comes twice, and not as files`);
      else values.addFiles(name, [{ name: fileName }], ranges);
    }
  }
  return values.toVariables();
}

function groupByName(received: readonly ReceivedPart[]): ReadonlyMap<string, readonly ReceivedPart[]> {
  const groups = new Map<string, ReceivedPart[]>();
  for (const part of received) {
    const group = groups.get(part.name);
    if (group === undefined) groups.set(part.name, [part]);
    else group.push(part);
  }
  return groups;
}
