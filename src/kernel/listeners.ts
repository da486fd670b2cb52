// What a kernel reports to: the listener of one execution, and that of the kernel.

import type { WorkerExit } from "../environments/environment.ts";
import type { DisplayPart } from "../protocol/events.ts";
import type { OutputStream } from "../protocol/execution.ts";
import type { HostCall } from "../api/local.ts";
import type { Outcome } from "./outcome.ts";

/** Takes what one execution prints and displays, as it comes and in order. Buffers are only valid during the call. */
export interface OutputReceiver {
  /** Both streams go to one place: while it takes no more of one, neither is read, so that their order is kept. Default: false. */
  readonly isOnePlace?: boolean;
  /** A promise: the code that prints more waits until it settles. Undefined: it goes on. */
  onOutput(stream: OutputStream, chunk: Buffer): Promise<void> | undefined;
  onDisplay(display: DisplayPart): Promise<void> | undefined;
}

/** Receives what one execution sends while it runs. */
export interface ExecutionListener extends OutputReceiver {
  onCall(call: number, name: string): void;
  onReply(call: number, ok: boolean): void;
  /** Code asks for input. Resolves to the answer in the worker's format; an error is raised in the code. */
  onInput(call: number, hostCall: HostCall): Promise<unknown>;
  /** The last call. */
  onEnd(outcome: Outcome): void;
}

/** Receives what does not belong to a running execution. */
export interface KernelListener {
  onBackground(stream: OutputStream, chunk: Buffer): void;
  /** The worker ended. A running execution gets its outcome afterwards. */
  onEnd(exit: WorkerExit): void;
}
