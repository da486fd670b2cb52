// One session that is open in the page: its console, variables, files and branches, and what can be done with it.

import { signal, type ReadonlySignal } from "@preact/signals";
import {
  SessionClosedError,
  SessionNotFoundError,
  type Checkpoint,
  type Completions,
  type Runtime,
  type Session,
  type SessionEvent,
  type SessionInfo,
  type Signature,
  type Subscription,
} from "rlm-runtime/client";
import type { UploadProgress } from "../upload-progress.ts";
import { Branches } from "./branches.ts";
import { Console } from "./console/console.ts";
import { Frames } from "./console/frames.ts";
import { SessionFiles } from "./files.ts";
import { Variables } from "./variables.ts";

export type OpenStatus =
  | { readonly state: "opening" | "live" | "missing" }
  | { readonly state: "ended"; readonly why: string }
  | { readonly state: "failed"; readonly why: string };

/** What a session consists of, once it was found. */
export interface SessionParts {
  readonly session: Session;
  readonly console: Console;
  readonly variables: Variables;
  readonly files: SessionFiles;
  readonly branches: Branches;
}

const POLL_MS = 5_000;

export class OpenSession {
  readonly id: string;
  /** What is typed, also while another pane is shown. */
  readonly draft = { code: "" };
  readonly #status = signal<OpenStatus>({ state: "opening" });
  readonly #info = signal<SessionInfo | undefined>(undefined);
  readonly #parts = signal<SessionParts | undefined>(undefined);
  readonly #runtime: Runtime;
  readonly #uploads: UploadProgress;
  #subscription: Subscription | undefined;
  #running: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(runtime: Runtime, uploads: UploadProgress, id: string) {
    this.#runtime = runtime;
    this.#uploads = uploads;
    this.id = id;
  }

  get status(): ReadonlySignal<OpenStatus> {
    return this.#status;
  }

  /** Undefined: not known yet. */
  get info(): ReadonlySignal<SessionInfo | undefined> {
    return this.#info;
  }

  /** Undefined: the session was not found yet. */
  get parts(): ReadonlySignal<SessionParts | undefined> {
    return this.#parts;
  }

  /** Finds the session, and follows it. Once. Never throws: `status` says what is wrong. */
  async open(): Promise<void> {
    try {
      const session = await this.#runtime.sessions.get(this.id);
      if (this.#isClosed) return;
      const parts: SessionParts = {
        session,
        console: new Console(this.#runtime, session, new Frames()),
        variables: new Variables(session),
        files: new SessionFiles(session, this.#uploads),
        branches: new Branches(this.#runtime, session),
      };
      this.#parts.value = parts;
      this.#subscription = session.subscribe((event) => this.#receive(event, parts));
      await this.#subscription.ready;
      await this.refresh();
      await parts.console.readHistory(this.#info.value?.head);
      if (this.#status.value.state === "opening") this.#status.value = { state: "live" };
      await this.#subscription.ended;
    } catch (error) {
      if (!this.#isClosed) this.#fail(error);
    }
  }

  /** Stops following it. The session goes on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#subscription?.[Symbol.dispose]();
    const parts = this.#parts.value;
    parts?.console.close();
    parts?.files.close();
    parts?.branches.close();
  }

  /** Reads its state now, and from time to time while the tab is visible. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const parts = this.#parts.value;
    if (parts === undefined || this.#isClosed) return;
    if (!document.hidden) {
      this.#info.value = await parts.session.info().catch((error: unknown) => {
        // Another failure is that of the connection, which says so itself.
        if (isGone(error) && !this.#isClosed) this.#fail(error);
        return this.#info.value;
      });
      if (this.#info.value !== undefined) parts.branches.setPresent(this.#info.value);
    }
    const isOver = this.#info.value?.state === "closed" || this.#status.value.state === "ended";
    if (!isOver) this.#timer = setTimeout(() => void this.refresh(), POLL_MS);
  }

  async interrupt(): Promise<void> {
    await this.#session.interrupt();
  }

  async reset(): Promise<void> {
    await this.#session.reset();
    await this.refresh();
  }

  /** Ends the session for everybody. */
  async end(): Promise<void> {
    this.#info.value = await this.#session.close();
  }

  /** The id of the copy. */
  async fork(id?: string): Promise<string> {
    const fork = await this.#session.fork(id === undefined ? {} : { id });
    await this.#parts.value?.branches.refresh();
    return fork.id;
  }

  async checkpoint(): Promise<Checkpoint> {
    const checkpoint = await this.#session.checkpoint();
    await this.refresh();
    return checkpoint;
  }

  async rewind(checkpointId: string): Promise<void> {
    await this.#session.rewind(checkpointId);
    await this.refresh();
  }

  async undo(): Promise<void> {
    await this.#session.undo();
    await this.refresh();
  }

  complete(code: string, cursor: number): Promise<Completions> {
    return this.#session.complete(code, cursor);
  }

  signature(code: string, cursor: number): Promise<Signature | null> {
    return this.#session.signature(code, cursor);
  }

  get #session(): Session {
    const parts = this.#parts.value;
    if (parts === undefined) throw new Error("the session is not open yet");
    return parts.session;
  }

  #receive(event: SessionEvent, { console, variables, files, branches }: SessionParts): void {
    console.receive(event);
    branches.receive(event);
    if (event.type === "execution-start") {
      this.#running = event.executionId;
      this.#setState("running");
    }
    if (event.type === "execution-end" || event.type === "session-reset") {
      // Code that waited can end, too, while other code runs.
      if (event.type === "session-reset" || event.executionId === this.#running) this.#setState("idle");
      variables.change();
      files.change();
      void this.refresh();
    }
    if (event.type === "session-end") {
      this.#setState("closed");
      this.#status.value = { state: "ended", why: event.why };
    }
  }

  /** Before the server says so: a button to interrupt must not come late. */
  #setState(state: SessionInfo["state"]): void {
    if (this.#info.value !== undefined) this.#info.value = { ...this.#info.value, state };
  }

  #fail(error: unknown): void {
    // What was seen stays readable.
    const hasSeen = this.#parts.value !== undefined && this.#parts.value.console.items.value.length > 0;
    if (isGone(error) && this.#status.value.state === "opening" && !hasSeen) this.#status.value = { state: "missing" };
    else if (isGone(error)) this.#status.value = { state: "ended", why: "closed" };
    else this.#status.value = { state: "failed", why: error instanceof Error ? error.message : String(error) };
  }
}

function isGone(error: unknown): boolean {
  return error instanceof SessionNotFoundError || error instanceof SessionClosedError;
}
