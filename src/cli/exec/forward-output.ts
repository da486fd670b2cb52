// Forwards what an execution prints at the pace of whoever reads it: byte for byte to a file or a pipe, made safe on a terminal.
//
// What the reader does not take is not stored: the code that prints waits.

import { StringDecoder } from "node:string_decoder";
import type { DisplayPart } from "../../protocol/events.ts";
import type { OutputStream } from "../../protocol/execution.ts";
import type { OutputReceiver } from "../../session/options.ts";
import type { StandardOutput } from "../io/standard-output.ts";
import { toDisplayText } from "./display-text.ts";

export class ForwardOutput implements OutputReceiver {
  readonly #output: StandardOutput;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };

  constructor(output: StandardOutput) {
    this.#output = output;
  }

  get isOnePlace(): boolean {
    return this.#output.isOnePlace;
  }

  onOutput(stream: OutputStream, chunk: Buffer): Promise<void> | undefined {
    if (this.#output.isTerminal(stream)) return this.#output.push(stream, this.#decoders[stream].write(chunk));
    return this.#output.push(stream, Buffer.from(chunk)); // a copy: the chunk is only valid during the call
  }

  onDisplay({ data }: DisplayPart): Promise<void> | undefined {
    const shown = toDisplayText(data);
    return shown === undefined ? undefined : this.#output.push(shown.stream, shown.text);
  }

  /** Writes what is left of incomplete characters. */
  finish(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#decoders[stream].end();
      if (rest !== "") void this.#output.push(stream, rest);
    }
  }
}
