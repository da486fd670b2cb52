// The connection to the server: whether it answers, since when it does not, and what it is.
//
// Every request of the client passes through here, and a heartbeat asks while nothing else does. What was loaded stays readable while the
// server is away; the client resumes streams by itself.

import { signal, type ReadonlySignal } from "@preact/signals";
import { connectRuntime, ServerConnectionError, type Runtime, type RuntimeInfo } from "rlm-runtime/client";
import { UploadProgress } from "./upload-progress.ts";

/** `refused`: the token is wrong, or the server is another version. */
export type ConnectionStatus =
  | { readonly state: "connecting" | "live" }
  | { readonly state: "lost"; readonly since: number }
  | { readonly state: "refused"; readonly why: string };

const HEARTBEAT_MS = 5_000;
/** A server that is away for a night is found again in the morning. */
const RETRY_MS = 7 * 24 * 3_600_000;

export class Connection {
  readonly uploads = new UploadProgress();
  readonly #status = signal<ConnectionStatus>({ state: "connecting" });
  readonly #info = signal<RuntimeInfo | undefined>(undefined);
  readonly #isOnline = signal(navigator.onLine);
  readonly #url: string;
  #runtime: Runtime | undefined;
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(url: string) {
    this.#url = url;
    const follow = (): void => {
      this.#isOnline.value = navigator.onLine;
      void this.#beat();
    };
    addEventListener("online", follow);
    addEventListener("offline", follow);
    document.addEventListener("visibilitychange", () => void this.#beat());
  }

  get status(): ReadonlySignal<ConnectionStatus> {
    return this.#status;
  }

  /** Whether this machine has a network at all. */
  get isOnline(): ReadonlySignal<boolean> {
    return this.#isOnline;
  }

  /** Versions, environment, tier. Undefined until it is known. */
  get info(): ReadonlySignal<RuntimeInfo | undefined> {
    return this.#info;
  }

  /** Resolves to the runtime of the server. Rejects with a ServerConnectionError; `status` says the same. */
  async open(token: string): Promise<Runtime> {
    await this.close();
    this.#status.value = { state: "connecting" };
    try {
      this.#runtime = await connectRuntime({
        url: this.#url,
        token,
        fetch: (url, init) => this.#fetch(url, init),
        retry: { maxElapsedMs: RETRY_MS },
      });
      this.#info.value = await this.#runtime.info();
    } catch (error) {
      const isRefused = error instanceof ServerConnectionError && error.fault === "configuration";
      if (isRefused) this.#status.value = { state: "refused", why: error.message };
      throw error;
    }
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT_MS);
    return this.#runtime;
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    const before = this.#runtime;
    this.#runtime = undefined;
    await before?.close();
  }

  /** Asks at once, as when the reader comes back to the tab. */
  async #beat(): Promise<void> {
    if (document.hidden || this.#runtime === undefined) return;
    const health = await this.#fetch(`${this.#url}/v1/health`, {}).catch(() => undefined);
    await health?.body?.cancel();
    // The tier is known once a session was opened.
    if (health?.ok === true && this.#info.value?.tier === null) await this.#readInfo(this.#runtime);
  }

  async #readInfo(runtime: Runtime): Promise<void> {
    const info = await runtime.info().catch(() => undefined);
    if (info !== undefined) this.#info.value = info;
  }

  async #fetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    try {
      const sent = typeof input === "string" ? this.uploads.send(input, init ?? {}) : undefined;
      const response = await (sent ?? fetch(input, { ...init, credentials: "omit", referrerPolicy: "no-referrer" }));
      this.#heard(response);
      return response;
    } catch (error) {
      const isOurs = init?.signal?.aborted === true;
      if (!isOurs) this.#lose();
      throw error;
    }
  }

  #lose(): void {
    const { state } = this.#status.value;
    if (state !== "lost" && state !== "refused") this.#status.value = { state: "lost", since: Date.now() };
  }

  #heard({ status, headers }: Response): void {
    const before = this.#status.value.state;
    if (status === 401) {
      this.#status.value = { state: "refused", why: "The server does not accept this token." };
      return;
    }
    // A proxy answers in place of a server that is gone.
    if (status >= 502 && status <= 504 && !headers.has("rlm-protocol")) {
      this.#lose();
      return;
    }
    if (before === "live" || before === "refused") return;
    this.#status.value = { state: "live" };
    // It may be another version now.
    if (before === "lost" && this.#runtime !== undefined) void this.#readInfo(this.#runtime);
  }
}
