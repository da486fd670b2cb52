// Shows executions in the console: streamed output, values, images and tracebacks.

import type { ExecutionResult, MimeBundle, OutputStream } from "../../../protocol/execution.ts";
import { TerminalFilter, toTerminalText } from "../../../util/text/terminal-text.ts";
import { toDisplayText } from "../../exec/display-text.ts";
import type { Images } from "./images.ts";
import { tokenize } from "../editor/python-text.ts";
import type { Palette } from "../../io/palette.ts";
import type { Reader } from "../reader.ts";
import { toColouredTraceback } from "./traceback.ts";

/** Chunks of this size come from a backlog; smaller ones are printed just now. */
const BACKLOG_CHUNK = 32 * 1024;
const MAX_TAIL = 4096;
// oxlint-disable-next-line no-control-regex -- what moves the cursor back
const OVERWRITING = /[\b\r]/g;
const RESET = "\u001B[0m";
// oxlint-disable-next-line no-control-regex -- colours
const COLOURS = /\u001B\[[\d;:]*m/g;

export class ConsoleOutput {
  readonly #reader: Reader;
  readonly #palette: Palette;
  readonly #images: Images;
  #filters = { stdout: new TerminalFilter(), stderr: new TerminalFilter() };
  /** The last line, without a newline yet. */
  #tail = "";
  #hasColours = false;
  #skippedBytes = 0;
  /** After an interrupt: skips the backlog of output. */
  skipsBacklog = false;

  constructor(reader: Reader, palette: Palette, images: Images) {
    this.#reader = reader;
    this.#palette = palette;
    this.#images = images;
  }

  /** The text on the last line, without colours. */
  get tail(): string {
    return this.#tail.replaceAll(COLOURS, "");
  }

  begin(): void {
    this.#filters = { stdout: new TerminalFilter(), stderr: new TerminalFilter() };
    this.#tail = "";
    this.#hasColours = false;
    this.#skippedBytes = 0;
    this.skipsBacklog = false;
  }

  write(stream: OutputStream, text: string): void {
    if (this.skipsBacklog && text.length >= BACKLOG_CHUNK) {
      this.#skippedBytes += Buffer.byteLength(text);
      return;
    }
    if (!this.#reader.isTerminal && stream === "stderr") return this.#reader.writeError(text);
    const safe = this.#reader.isTerminal ? this.#filters[stream].write(text) : text;
    this.#hasColours ||= safe.includes("\u001B");
    this.#put(safe);
  }

  /** The user has ended the line with Enter. */
  lineEnded(): void {
    this.#tail = "";
  }

  notice(text: string): void {
    this.#freshLine();
    this.#put(`${this.#palette.paint("quiet", toTerminalText(text))}\n`);
  }

  error(error: unknown): void {
    const text = toTerminalText(error instanceof Error ? error.message : String(error));
    this.#freshLine();
    this.#reader.writeError(`${this.#palette.paint("error", text)}\n`);
  }

  /** Removes characters that would overwrite the line. */
  line(text: string): void {
    this.#freshLine();
    this.#put(`${toTerminalText(text).replaceAll(OVERWRITING, "")}\n`);
  }

  /** Python source, coloured. */
  code(text: string): void {
    const safe = toTerminalText(text).replaceAll(OVERWRITING, "");
    let shown = "";
    let at = 0;
    for (const { kind, start, end } of tokenize(safe)) {
      shown += safe.slice(at, start) + this.#palette.paint(kind, safe.slice(start, end));
      at = end;
    }
    this.#freshLine();
    this.#put(`${shown}${safe.slice(at)}\n`);
  }

  async display(bundle: MimeBundle): Promise<void> {
    const image = bundle["image/png"];
    const shown = image === undefined ? undefined : await this.#images.toText(image);
    if (shown !== undefined) {
      this.#freshLine();
      this.#put(shown);
      this.#tail = "";
      return;
    }
    const text = toDisplayText(bundle)?.text;
    if (text === undefined) return; // a display that is empty until it is updated
    this.#freshLine();
    this.#put(this.#reader.isTerminal ? toTerminalText(text) : text);
  }

  /** Shows the end of an execution, without what was streamed. */
  async result(result: ExecutionResult): Promise<void> {
    this.#freshLine();
    if (this.#skippedBytes > 0) this.notice(`(${this.#skippedBytes} bytes of output are not shown)`);
    const { value, error } = result;
    if (value !== undefined) await this.display(value);
    if (error !== undefined && error.traceback !== "")
      this.#reader.writeError(`${toColouredTraceback(error.traceback, this.#palette)}\n`);
    const ending = toNotice(result);
    if (ending !== undefined) this.error(ending);
  }

  #freshLine(): void {
    const reset = this.#hasColours && this.#reader.isTerminal ? RESET : "";
    this.#hasColours = false;
    this.#reader.write(this.#tail === "" ? reset : `${reset}\n`);
    this.#tail = "";
  }

  #put(text: string): void {
    this.#reader.write(text);
    const end = text.lastIndexOf("\n");
    this.#tail = (end === -1 ? this.#tail + text : text.slice(end + 1)).slice(-MAX_TAIL);
  }
}

/** What the traceback does not show. */
function toNotice({ status, reason, state, exitCode, error }: ExecutionResult): string | undefined {
  const after = AFTER[state];
  if (status === "exit") {
    const call = `exit(${exitCode ?? 0}).`;
    return state === "kept" ? `${call} The session goes on; :quit or Ctrl-D leaves.` : `${call} ${after}`;
  }
  if (status !== "interrupted") return undefined;
  if (reason === "cancelled")
    return error?.traceback === "" || error === undefined ? `KeyboardInterrupt ${after}`.trim() : after || undefined;
  const why = {
    timeout: "Stopped at the time limit.",
    memory: "Stopped: too much memory.",
    "worker-lost": "The worker was lost.",
  };
  return `${why[reason ?? "worker-lost"]} ${error?.traceback === "" ? (error.value ?? "") : ""} ${after}`
    .replaceAll(/ +/g, " ")
    .trim();
}

const AFTER = {
  kept: "",
  restored: "The state is that of the last checkpoint.",
  lost: "Everything in the session is gone; files stay.",
} as const;
