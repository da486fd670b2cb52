// The conversation with one file job: a request, content to write, answers until `done`.
//
// The job is our own program, but code of the session can stop or kill its process. So a job that is silent for too long is given up.
// Waiting for an answer keeps the process alive; an open job does not.

import type { Job, Sandbox } from "../../environments/environment.ts";
import type { JobAnswer } from "../../protocol/worker/job-answers.ts";
import { MAX_ANSWER_BYTES } from "../../protocol/worker/limits.ts";
import type { ActiveWork } from "../../util/async/active-work.ts";
import { parseJSON } from "../../util/parse-json.ts";

/** An answer of the job; `data` has the bytes. */
export type FileAnswer = Exclude<JobAnswer, { type: "data" }> | { readonly type: "data"; readonly chunk: Buffer };

const NEWLINE = 10;
const SILENCE_MS = 10_000;
const PIECE_BYTES = 256 * 1024;

export class FileJob {
  /** Called once, when it is closed. */
  onClose: () => void = () => {};
  #isClosed = false;
  readonly #job: Job;
  readonly #activeWork: ActiveWork;
  readonly #answers: AsyncGenerator<FileAnswer, void, undefined>;

  private constructor(job: Job, activeWork: ActiveWork) {
    this.#job = job;
    this.#activeWork = activeWork;
    this.#answers = readAnswers(job.output());
  }

  /** Throws WorkerLostError where the sandbox is gone. */
  static async start(sandbox: Sandbox, request: object, activeWork: ActiveWork): Promise<FileJob> {
    const job = await sandbox.startJob();
    void job.write(`${JSON.stringify(request)}\n`);
    return new FileJob(job, activeWork);
  }

  /** The next answer; undefined when the job has ended. */
  next(): Promise<FileAnswer | undefined> {
    return this.#withTimeout(this.nextUnlimited());
  }

  /** The same without a time limit, for changes that may never come: this does not keep the process alive. */
  async nextUnlimited(): Promise<FileAnswer | undefined> {
    for (;;) {
      const { value, done } = await this.#answers.next();
      if (done) return undefined;
      if (value.type !== "busy") return value;
    }
  }

  /** Sends content to write. False: the job has ended. */
  async send(chunk: Uint8Array): Promise<boolean> {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES);
      const message = Buffer.concat([Buffer.from(`{"bytes":${piece.length}}\n`), piece]);
      if (!(await this.#withTimeout(this.#job.write(message)))) return false;
    }
    return true;
  }

  /** Marks the end of the content. Without it nothing is written. */
  finish(): void {
    void this.#job.write('{"end":true}\n');
  }

  whenEnded(): Promise<void> {
    return this.#activeWork.during(() => this.#job.ended);
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#job.close();
    this.onClose();
  }

  async #withTimeout<T>(work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.close(), SILENCE_MS).unref();
    try {
      return await this.#activeWork.during(() => work);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Ends at the first invalid answer: the job then counts as dead. */
async function* readAnswers(output: AsyncIterable<Buffer>): AsyncGenerator<FileAnswer, void, undefined> {
  const { parseJobAnswer } = await import("../../protocol/worker/job-answers.ts"); // not at the start of every program
  let rest: Buffer = Buffer.alloc(0);
  let left = 0;
  for await (const chunk of output) {
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (data.length > 0) {
      if (left > 0) {
        const part = data.subarray(0, left);
        left -= part.length;
        data = data.subarray(part.length);
        yield { type: "data", chunk: part };
        continue;
      }
      const end = data.indexOf(NEWLINE);
      if (end === -1) break;
      const answer = end > MAX_ANSWER_BYTES ? null : parseJobAnswer(parseJSON(data.toString("utf8", 0, end)));
      if (answer === null) return;
      data = data.subarray(end + 1);
      if (answer.type === "data") left = answer.bytes;
      else yield answer;
    }
    if (data.length > MAX_ANSWER_BYTES) return;
    rest = data;
  }
}
