// Reads the value of one variable of a session, in pieces, as JSON, text or bytes. The session does not change.
//
// The worker is not trusted: what it sends is bounded and counted here, too.

import { z } from "zod";
import { SessionStateError, VariableNotFoundError } from "../../errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ChunkSink } from "../../kernel/pending-requests.ts";
import type { GetCommand } from "../../protocol/worker/host-messages.ts";
import type { ChunkHeader } from "../../protocol/worker/worker-events.ts";
import { checkCount } from "../../util/check-number.ts";
import type { Interrupted } from "../kernels/interruptible.ts";
import type { OperationOptions } from "../options.ts";
import { checkName } from "./set-variable.ts";

export interface GetOptions extends OperationOptions {
  /** Default: `json`. */
  readonly as?: "json" | "text" | "bytes";
  /** Larger values are refused. Default: 64 MiB; at most 1 GiB. */
  readonly maxBytes?: number;
}

/** Takes the value in pieces. A piece is only valid during the call. May throw, for example when the disk is full. */
export type TakePiece = (piece: Buffer) => void;

const MIB = 1024 * 1024;
const DEFAULT_MAX_BYTES = 64 * MIB;
const MAX_BYTES = 1024 * MIB;
const KINDS: readonly unknown[] = ["json", "text", "bytes"];

/** Throws a TypeError or RangeError for an invalid name or option. */
export function toGetCommand(
  name: string,
  { as: kind = "json", maxBytes = DEFAULT_MAX_BYTES }: GetOptions,
): GetCommand {
  if (!KINDS.includes(kind)) throw new TypeError("Cannot read a variable: as must be 'json', 'text' or 'bytes'");
  checkCount("maxBytes", maxBytes, 0);
  if (maxBytes > MAX_BYTES) throw new RangeError(`Cannot use ${maxBytes} as maxBytes: it must be 1 GiB at most`);
  return { cmd: "get", name: checkName(name), kind, maxBytes };
}

const answer = z.object({
  found: z.boolean(),
  tooLarge: z.literal(true).optional(),
  size: z.int().min(0).optional(),
});

/**
 * Throws VariableNotFoundError, and SessionStateError for a value that is not of this kind; its cause is a RangeError where the value is
 * too large. Pieces that were taken by then are incomplete.
 */
export async function getVariable(
  kernel: Kernel,
  command: GetCommand,
  take: TakePiece,
  { sessionId, interrupted }: { readonly sessionId: string; readonly interrupted: Interrupted },
): Promise<void> {
  const { name, kind, maxBytes } = command;
  const fail = (why: string, cause?: unknown): SessionStateError =>
    new SessionStateError({ action: `read variable '${name}' as ${kind}`, sessionId, why }, { cause });
  const tooLarge = (): SessionStateError => {
    const cause = new RangeError(`it has more than ${maxBytes} bytes`);
    return fail(cause.message, cause);
  };
  const bytes = new ValueBytes(kernel, take, maxBytes);
  const status = await kernel.request(command, { limitMs: null, sink: bytes });
  if (bytes.isTooLarge) throw tooLarge();
  if (bytes.failure !== undefined) throw fail(bytes.failure.message, bytes.failure);
  if (status === undefined) throw fail(interrupted() ?? "the worker was lost");
  if (status.error !== undefined) throw fail(interrupted() ?? (status.error.value || status.error.name));
  const { data } = answer.safeParse(status.data);
  if (data?.found === false) throw new VariableNotFoundError({ variable: name });
  if (data?.tooLarge === true) throw tooLarge();
  if (data === undefined || data.size !== bytes.size) throw fail("the worker sent an invalid reply");
}

/** Passes on the bytes of one value: in order, up to a limit, and none after a failure. */
class ValueBytes implements ChunkSink {
  readonly #kernel: Kernel;
  readonly #take: TakePiece;
  readonly #maxBytes: number;
  /** Announced, and then taken. */
  #announced = 0;
  size = 0;
  isTooLarge = false;
  failure: Error | undefined;

  constructor(kernel: Kernel, take: TakePiece, maxBytes: number) {
    this.#kernel = kernel;
    this.#take = take;
    this.#maxBytes = maxBytes;
  }

  begin({ at, bytes }: ChunkHeader): boolean {
    if (this.isTooLarge || this.failure !== undefined || at !== this.#announced) return false;
    this.#announced += bytes;
    this.isTooLarge = this.#announced > this.#maxBytes;
    if (this.isTooLarge) this.#kernel.stop("cancelled");
    return !this.isTooLarge;
  }

  take(piece: Buffer): void {
    if (this.failure !== undefined) return;
    this.size += piece.length;
    try {
      this.#take(piece);
    } catch (error) {
      this.failure = error as Error;
      this.#kernel.stop("cancelled");
    }
  }
}
