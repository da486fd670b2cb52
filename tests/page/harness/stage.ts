// What a file of tests of the page shares: a browser and a real `rlm serve` with its own data and a scripted model.
//
// A test opens as many pages as it has readers. When it ends, they are closed, and whatever they complained about fails it.

import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { WebSocket } from "ws";
import { connectRuntime, type Runtime } from "../../../src/client/index.ts";
import { Folder } from "../../config/folder.ts";
import { startServing, type Serving } from "../../e2e/serving.ts";
import { hasBrowser, launchBrowser } from "./browser.ts";
import { openReader, type Reader, type ReaderOptions } from "./reader.ts";

const HOOK_MS = 180_000;

export interface StageOptions {
  /** Rules of the scripted model: docs/backends.md. */
  readonly rules?: readonly object[];
  /** Arguments of `rlm serve`. */
  readonly args?: readonly string[];
  /** Fills the data folder before the server starts. */
  readonly prepare?: (dataFolder: string) => Promise<void>;
}

export class Stage {
  readonly #browser: Browser;
  readonly #readers: Reader[] = [];
  readonly serving: Serving;
  /** A client of the same server, to arrange what a page should show. */
  readonly runtime: Runtime;

  constructor(browser: Browser, serving: Serving, runtime: Runtime) {
    this.#browser = browser;
    this.serving = serving;
    this.runtime = runtime;
  }

  get url(): string {
    return this.serving.url;
  }

  get token(): string {
    return this.serving.token;
  }

  /** A reader with a browser profile of its own, signed in and at this address. */
  async open(address = "", options: ReaderOptions = {}): Promise<Reader> {
    const { token = this.token } = options;
    const separator = address.includes("?") ? "&" : "?";
    const fragment =
      token === null ? address : address === "" ? `#token=${token}` : `${address}${separator}token=${token}`;
    const reader = await openReader(this.#browser, `${this.url}/${fragment}`, options);
    this.#readers.push(reader);
    return reader;
  }

  /** A file, without any network. */
  async openOffline(url: string, options: ReaderOptions = {}): Promise<Reader> {
    const reader = await openReader(this.#browser, url, { ...options, isOffline: true });
    this.#readers.push(reader);
    return reader;
  }

  /** Screenshots of all pages, for whoever looks into a failure. */
  async photograph(name: string): Promise<void> {
    for (const reader of this.#readers) await reader.screenshot(name).catch(() => undefined);
  }

  /** Closes all pages. Returns what they complained about. */
  async clear(): Promise<readonly string[]> {
    const readers = this.#readers.splice(0);
    await Promise.all(readers.map((reader) => reader.close()));
    return readers.flatMap(({ problems }) => problems);
  }
}

/** Declares the stage of a file. It exists while the tests run. */
export function useStage({ rules = [], args = [], prepare }: StageOptions = {}): { readonly stage: Stage } {
  let stage: Stage | undefined;
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    if (!hasBrowser) return;
    const folder = new Folder({ "script.json": JSON.stringify({ rules }) });
    closers.push(async () => folder[Symbol.dispose]());
    const model = { RLM_BACKEND: "scripted", RLM_MODEL: folder.at("script.json"), RLM_MODE: "rlm" };
    const serving = await startServing(args, model);
    closers.push(async () => serving[Symbol.asyncDispose]());
    await prepare?.(serving.env["RLM_DATA"] ?? "");
    const browser = await launchBrowser();
    closers.push(() => browser.close());
    const runtime = await connectRuntime({ url: serving.url, token: serving.token, WebSocket });
    closers.push(() => runtime.close());
    stage = new Stage(browser, serving, runtime);
  }, HOOK_MS);
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  }, HOOK_MS);
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") await stage?.photograph(`failed-${task.name}`);
    expect(await stage?.clear()).toEqual(stage === undefined ? undefined : []);
  });
  return {
    get stage() {
      if (stage === undefined) throw new Error("The stage exists only while tests run");
      return stage;
    },
  };
}
