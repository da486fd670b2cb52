// The built page: its files are read once, and only what was found then is served. A name that a client sends is never a path.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** In the order of preference. The build writes them beside each file for which they are smaller. */
const ENCODINGS = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;

export type PageEncoding = (typeof ENCODINGS)[number]["name"];

export interface PageFile {
  /** The media type. */
  readonly type: string;
  /** For conditional requests. Weak, because it is the same for each encoding. */
  readonly etag: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same bytes, compressed. */
  readonly encoded: ReadonlyMap<PageEncoding, Uint8Array<ArrayBuffer>>;
}

const INDEX = "index.html";
const ASSETS = "assets";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

export class PageFiles {
  readonly #folder: string | undefined;
  #files: ReadonlyMap<string, PageFile> | undefined;

  /** Reads nothing yet. Default: the page of this package. */
  constructor(folder: string | undefined = pageFolder()) {
    this.#folder = folder;
  }

  /** Undefined: the page was not built. */
  get index(): PageFile | undefined {
    return this.#all.get(INDEX);
  }

  /** By the name of a file in `assets/`. */
  asset(name: string): PageFile | undefined {
    return this.#all.get(`${ASSETS}/${name}`);
  }

  get #all(): ReadonlyMap<string, PageFile> {
    return (this.#files ??= readFiles(this.#folder));
  }
}

function readFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  if (folder === undefined || !existsSync(join(folder, INDEX))) return new Map();
  const names = readdirSync(join(folder, ASSETS)).map((name) => `${ASSETS}/${name}`);
  return new Map([INDEX, ...names].flatMap((name) => readPageFile(folder, name)));
}

/** Empty: it is of a type that the page does not have, such as a compressed file, which belongs to another one. */
function readPageFile(folder: string, name: string): (readonly [string, PageFile])[] {
  const type = TYPES[extname(name)];
  if (type === undefined) return [];
  const path = join(folder, name);
  const bytes = readFileSync(path);
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  const encoded = ENCODINGS.flatMap((encoding) => {
    const compressed = path + encoding.ending;
    return existsSync(compressed) ? [[encoding.name, readFileSync(compressed)] as const] : [];
  });
  return [[name, { type, etag: `W/"${digest}"`, bytes, encoded: new Map(encoded) }]];
}

/** Beside the bundle in a built package, in `dist/` of the source tree otherwise. Undefined: it is in neither. */
function pageFolder(): string | undefined {
  // Bundlers that make CommonJS leave no URL. The path is a variable, so that none of them takes the folder for a module.
  const here = (import.meta as { readonly url?: string }).url;
  if (here === undefined) return undefined;
  return FOLDERS.map((path) => fileURLToPath(new URL(path, here))).find((folder) => existsSync(`${folder}/${INDEX}`));
}

const FOLDERS: readonly string[] = ["./web", "../../../dist/web"];
