// The windows of Ollama's models: how large each can be, and how large it is at the moment.
//
// Ollama loads a model again where a request asks for another window, which takes seconds. So windows grow in large steps and never
// shrink, and one that the model already has, or that its Modelfile sets, is kept where it is large enough.

import { orAborted } from "../../../util/async/or-aborted.ts";
import { toFields, type Fields } from "../protocols/wire-protocol.ts";

/** Resolves with the object that the server answers, and rejects where there is none. */
export type FetchJSON = (
  path: string,
  options: { readonly body?: Fields; readonly signal: AbortSignal },
) => Promise<Fields>;

interface Window {
  /** What the model was trained for. Undefined: not known. */
  readonly largest: number | undefined;
  /** It runs elsewhere, with all of its window. */
  readonly isRemote: boolean;
  size: number;
}

const SMALLEST = 8_192;
const LOOK_UP_MS = 10_000;
const MAX_MODELS = 1_000;

export class OllamaWindows {
  readonly #fetch: FetchJSON;
  readonly #windows = new Map<string, Window>();
  readonly #lookUps = new Map<string, Promise<Window | undefined>>();

  constructor(fetch: FetchJSON) {
    this.#fetch = fetch;
  }

  /** Undefined: not known, or not asked yet. */
  largestOf(model: string): number | undefined {
    return this.#windows.get(model)?.largest;
  }

  /** The window to ask for. Undefined: the server decides. */
  async sizeFor(
    model: string,
    tokens: number,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<number | undefined> {
    const window = this.#windows.get(model) ?? (await orAborted(this.#lookUpOnce(model), signal));
    if (window === undefined) return toStep(tokens);
    if (window.isRemote) return undefined;
    if (tokens > window.size) window.size = Math.min(toStep(tokens), window.largest ?? Infinity);
    return window.size;
  }

  #lookUpOnce(model: string): Promise<Window | undefined> {
    let lookUp = this.#lookUps.get(model);
    if (lookUp === undefined) {
      lookUp = this.#lookUp(model).finally(() => this.#lookUps.delete(model));
      this.#lookUps.set(model, lookUp);
    }
    return lookUp;
  }

  /** Undefined: the server does not tell. If it cannot be reached, the request itself says so. */
  async #lookUp(model: string): Promise<Window | undefined> {
    const signal = AbortSignal.timeout(LOOK_UP_MS);
    try {
      const [shown, running] = await Promise.all([
        this.#fetch("/api/show", { body: { model }, signal }),
        this.#fetch("/api/ps", { signal }).catch(() => ({})),
      ]);
      const window = toWindow(shown, sizeIn(running, model));
      if (this.#windows.size >= MAX_MODELS) this.#windows.clear();
      this.#windows.set(model, window);
      return window;
    } catch {
      return undefined;
    }
  }
}

function toWindow(shown: Fields, runningSize: number): Window {
  const info = toFields(shown["model_info"]);
  const largest = toSize(info[`${String(info["general.architecture"])}.context_length`]);
  const [, configured] = /^num_ctx\s+(\d+)/m.exec(String(shown["parameters"])) ?? [];
  const isRemote = typeof shown["remote_host"] === "string" && shown["remote_host"] !== "";
  return { largest, isRemote, size: Math.max(runningSize, toSize(Number(configured)) ?? 0) };
}

/** 0: the model is not loaded. */
function sizeIn(running: Fields, model: string): number {
  const { models } = running;
  const loaded = (Array.isArray(models) ? models.map(toFields) : []).find((each) => {
    const names = [each["name"], each["model"]];
    return names.includes(model) || names.includes(`${model}:latest`);
  });
  return toSize(loaded?.["context_length"]) ?? 0;
}

function toSize(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= 100_000_000
    ? value
    : undefined;
}

function toStep(tokens: number): number {
  return Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(tokens)));
}
