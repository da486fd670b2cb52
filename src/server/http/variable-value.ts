// Receives a body that becomes the value of a variable.
//
// It is received completely before the session is involved: code must not wait for a slow client. Small values are kept in memory, others
// in a file.

import { isUtf8 } from "node:buffer";
import type { VariableValue } from "../../session/state/set-variable.ts";
import { ProblemError } from "../net/problem.ts";
import type { Spool } from "../net/bodies/spool.ts";

type Kind = "json" | "text" | "bytes";

const KINDS: Readonly<Record<string, Kind>> = {
  "application/json": "json",
  "text/plain": "text",
  "application/octet-stream": "bytes",
};
export const VALUE_TYPES = Object.keys(KINDS);

const MIB = 1024 * 1024;
const IN_MEMORY_BYTES = MIB;
const MAX_BYTES = 1024 * MIB;

interface ReceivedValue extends AsyncDisposable {
  /** Valid until it is disposed. */
  readonly value: VariableValue;
}

/** Throws a ProblemError for other media types. */
export function toKind(contentType: string | null): Kind {
  const [type = "", ...parameters] = (contentType ?? "").toLowerCase().split(";");
  const kind = KINDS[type.trim()];
  const charset = parameters.find((one) => one.trim().startsWith("charset="))?.split("=")[1];
  if (kind !== undefined && ["utf-8", '"utf-8"'].includes(charset?.trim() ?? "utf-8")) return kind;
  const detail = `Set Content-Type to one of ${VALUE_TYPES.join(", ")}; text is UTF-8`;
  throw new ProblemError({ status: 415, code: "UNSUPPORTED_TYPE", detail });
}

/** Throws what `Spool.receive` throws, and a ProblemError for text that is not UTF-8. */
export async function receiveValue(
  content: AsyncIterable<Uint8Array>,
  kind: Kind,
  spool: Spool,
): Promise<ReceivedValue> {
  const iterator = content[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let total = 0;
  while (total <= IN_MEMORY_BYTES) {
    const { value, done } = await iterator.next();
    if (done === true) return { value: toValue(Buffer.concat(first), kind), [Symbol.asyncDispose]: async () => {} };
    first.push(value);
    total += value.length;
  }
  const file = await spool.receive(chain(first, iterator), MAX_BYTES);
  return { value: { file: file.path, as: kind }, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() };
}

async function* chain(first: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield* first.splice(0);
  try {
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function toValue(bytes: Buffer, kind: Kind): VariableValue {
  if (kind === "bytes") return { bytes };
  if (isUtf8(bytes)) return { text: bytes.toString("utf8"), as: kind };
  throw new ProblemError({ status: 422, code: "INVALID_BODY", detail: "The body is not UTF-8" });
}
