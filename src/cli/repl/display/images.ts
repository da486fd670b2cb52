// Images on a terminal: inline if it supports a protocol, else saved to a file whose path is shown.
//
// The environment reveals kitty's and iTerm2's protocols; the terminal is queried for sixel once, at the first image. Files
// are saved in the data folder, which keeps the last hundred.

import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPng, parsePng } from "../../../util/image/png.ts";
import { toSixel } from "./sixel.ts";

type Protocol = "kitty" | "iterm" | "sixel" | "none";

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 100;
const KITTY_CHUNK = 4096;
const QUERY_MS = 250;
const FIGURE = /^figure-(?<number>\d+)\.png$/;

/** Queries the attributes of the terminal; undefined: no report. */
export type QueryAttributes = (limitMs: number) => Promise<readonly string[] | undefined>;

export class Images {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #query: QueryAttributes | undefined;
  readonly #folder: string | undefined;
  #protocol: Promise<Protocol> | undefined;

  /** `folder` is for files. Without `query` there is no terminal. */
  constructor(env: Readonly<Record<string, string | undefined>>, folder: string | undefined, query?: QueryAttributes) {
    this.#env = env;
    this.#folder = folder;
    this.#query = query;
  }

  /** What to write to the terminal for a PNG in base64; undefined if it is not one. */
  async toText(base64: string): Promise<string | undefined> {
    const data = Buffer.from(base64.slice(0, MAX_BYTES * 1.5), "base64");
    if (!isPng(data) || data.length > MAX_BYTES) return undefined;
    const shown = await inline(await (this.#protocol ??= this.#detect()), data);
    return shown === undefined ? this.#save(data) : `${shown}\n`;
  }

  async #detect(): Promise<Protocol> {
    if (this.#query === undefined) return "none";
    const { TERM = "", TERM_PROGRAM = "", KITTY_WINDOW_ID, TMUX } = this.#env;
    const isDirect = TMUX === undefined && !/^(?:screen|tmux)/.test(TERM); // a multiplexer does not pass them on
    if (isDirect && (KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(TERM))) return "kitty";
    if (isDirect && /^(?:iTerm\.app|WezTerm|mintty)$/.test(TERM_PROGRAM)) return "iterm";
    return (await this.#query(QUERY_MS))?.includes("4") ? "sixel" : "none";
  }

  #save(data: Buffer): string {
    const size = `${Math.ceil(data.length / 1024)} KiB`;
    if (this.#folder === undefined) return `(an image of ${size}; there is no folder to keep it in)\n`;
    try {
      return `${saveFigure(this.#folder, data)} (${size})\n`;
    } catch (error) {
      return `(an image of ${size}; it cannot be saved: ${(error as Error).message})\n`;
    }
  }
}

async function inline(protocol: Protocol, data: Buffer): Promise<string | undefined> {
  switch (protocol) {
    case "kitty":
      return toKitty(data.toString("base64"));
    case "iterm":
      return `\u001B]1337;File=inline=1;size=${data.length}:${data.toString("base64")}\u0007`;
    case "sixel": {
      const pixels = await parsePng(data);
      return pixels && toSixel(pixels);
    }
    case "none":
      return undefined;
  }
}

/** In chunks, because kitty limits their size. */
function toKitty(base64: string): string {
  let text = "";
  for (let at = 0; at < base64.length; at += KITTY_CHUNK) {
    const isLast = at + KITTY_CHUNK >= base64.length;
    text += `\u001B_G${at === 0 ? "a=T,f=100,q=2," : ""}m=${isLast ? 0 : 1};${base64.slice(at, at + KITTY_CHUNK)}\u001B\\`;
  }
  return text;
}

/** Uses the next free number; two consoles never write the same file. */
function saveFigure(folder: string, data: Buffer): string {
  const numbers = readdirSync(folder)
    .flatMap((name) => Number(FIGURE.exec(name)?.groups?.["number"] ?? []))
    .toSorted((a, b) => a - b);
  for (const old of numbers.slice(0, Math.max(0, numbers.length - MAX_FILES + 1))) {
    rmSync(join(folder, `figure-${old}.png`), { force: true });
  }
  for (let number = (numbers.at(-1) ?? 0) + 1; ; number += 1) {
    const path = join(folder, `figure-${number}.png`);
    try {
      writeFileSync(path, data, { flag: "wx", mode: 0o600 });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
