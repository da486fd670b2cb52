// Session files: a magic number, the state as a worker wrote it, a manifest, its length, and a digest of all that.
//
// The host reads the manifest and checks the digest. It never interprets the state: only a worker does, in its sandbox. The format
// is in docs/session-files.md.

import { createHash, type Hash } from "node:crypto";
import { constants, ftruncateSync, readSync, writeSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { REPLSecurityError } from "../errors.ts";
import {
  MAX_MANIFEST_BYTES,
  parseManifest,
  SESSION_FILE_FORMAT,
  type SavedState,
  type SessionManifest,
} from "../protocol/session-manifest.ts";
import { readChunks } from "../util/bytes/read-chunks.ts";
import { readExactly } from "../util/bytes/read-exactly.ts";
import { describeWriteProblem, isFolder } from "../util/files/file-problem.ts";
import { parseJSON } from "../util/parse-json.ts";
import { VERSION } from "../util/version.ts";
import { AtomicFile } from "./atomic-file.ts";
import { DescriptorFile } from "./descriptor-file.ts";

const MAGIC = Buffer.from("RLM session file\n");
const LENGTH_BYTES = 8;
const DIGEST_BYTES = 32;
const TRAILER_BYTES = LENGTH_BYTES + DIGEST_BYTES;

/** Whether the open file begins like a session file. */
export function isSessionFile(file: number): boolean {
  const start = Buffer.alloc(MAGIC.length);
  return readSync(file, start, 0, start.length, 0) === start.length && start.equals(MAGIC);
}

/** Writes one session file. It appears at its path when `finish` resolves. */
export class SessionFileWriter {
  readonly #file: AtomicFile | DescriptorFile;
  #hash: Hash = createHash("sha256");
  #size = 0;

  /** Throws an Error that says why nothing can be written at the path. */
  constructor(path: string) {
    if (isFolder(path)) throw new Error("it is a folder. Name a file in it");
    try {
      this.#file = DescriptorFile.matches(path) ? new DescriptorFile(path) : new AtomicFile(resolve(path));
      this.write(MAGIC);
    } catch (error) {
      throw new Error(describeWriteProblem(path, error), { cause: error });
    }
  }

  write(piece: Buffer): void {
    this.#hash.update(piece);
    this.#append(piece);
  }

  restart(): void {
    ftruncateSync(this.#file.fd, 0);
    this.#size = 0;
    this.#hash = createHash("sha256");
    this.write(MAGIC);
  }

  async finish(state: SavedState): Promise<{ sizeBytes: number; digest: string }> {
    const created = new Date().toISOString();
    const manifest: SessionManifest = { format: SESSION_FILE_FORMAT, version: VERSION, created, ...state };
    const json = Buffer.from(JSON.stringify(manifest));
    if (json.length > MAX_MANIFEST_BYTES) throw new Error("there are too many variables");
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeBigUInt64LE(BigInt(json.length));
    this.write(json);
    this.write(length);
    const digest = this.#hash.digest();
    this.#append(digest);
    await this.#file.commit();
    return { sizeBytes: this.#size, digest: digest.toString("hex") };
  }

  async discard(): Promise<void> {
    this.#file.discard();
  }

  #append(data: Buffer): void {
    let written = 0;
    while (written < data.length) {
      written += writeSync(this.#file.fd, data, written, data.length - written, this.#size + written);
    }
    this.#size += data.length;
  }
}

/** A session file with a valid digest. */
export class SessionFile {
  readonly path: string;
  readonly state: SessionManifest;
  readonly #file: FileHandle;
  readonly #end: number;
  readonly #changedAt: bigint;

  private constructor(path: string, file: FileHandle, state: SessionManifest, end: number, changedAt: bigint) {
    this.path = path;
    this.#file = file;
    this.state = state;
    this.#end = end;
    this.#changedAt = changedAt;
  }

  /** Throws REPLSecurityError for a file that is damaged or no session file, and Node's error for one that cannot be read. */
  static async open(path: string): Promise<SessionFile> {
    // Non-blocking: opening a named pipe would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await file.stat({ bigint: true });
      if (!stat.isFile()) throw refuse(path, stat.isDirectory() ? "it is a folder" : "it is not a file");
      const { manifest, end } = await readManifest(path, file, Number(stat.size));
      await checkDigest(path, file, Number(stat.size));
      return new SessionFile(path, file, manifest, end, stat.mtimeNs);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The state. Each iteration starts from the beginning. */
  body(): AsyncIterable<Uint8Array> & { readonly sizeBytes: number } {
    const [file, start, end, changedAt] = [this.#file, MAGIC.length, this.#end, this.#changedAt];
    return {
      sizeBytes: end - start,
      async *[Symbol.asyncIterator]() {
        yield* readChunks(file, start, end);
        const { mtimeNs } = await file.stat({ bigint: true });
        if (mtimeNs !== changedAt) throw new Error("the file changed while it was read");
      },
    };
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

async function readManifest(
  path: string,
  file: FileHandle,
  size: number,
): Promise<{ readonly manifest: SessionManifest; readonly end: number }> {
  const magic = await readExactly(file, 0, MAGIC.length);
  if (!magic.equals(MAGIC)) throw refuse(path, "it is not a session file");
  const trailer = size - TRAILER_BYTES;
  if (trailer < MAGIC.length) throw refuse(path, "it is damaged: its end is missing");
  const length = (await readExactly(file, trailer, LENGTH_BYTES)).readBigUInt64LE();
  const end = trailer - Number(length);
  if (length > MAX_MANIFEST_BYTES || end < MAGIC.length) throw refuse(path, "it is damaged: its end is not one");
  const manifest = parseManifest(parseJSON((await readExactly(file, end, Number(length))).toString("utf8")));
  if (manifest === null) throw refuse(path, "it is damaged: its manifest is not one");
  if (!("names" in manifest)) {
    throw refuse(path, `it has format ${manifest.format}, and this version reads format ${SESSION_FILE_FORMAT}`);
  }
  return { manifest, end };
}

async function checkDigest(path: string, file: FileHandle, size: number): Promise<void> {
  const hash = createHash("sha256");
  for await (const piece of readChunks(file, 0, size - DIGEST_BYTES)) hash.update(piece);
  const digest = await readExactly(file, size - DIGEST_BYTES, DIGEST_BYTES);
  if (!hash.digest().equals(digest)) throw refuse(path, "it is damaged: its digest is another");
}

function refuse(path: string, why: string): REPLSecurityError {
  return new REPLSecurityError({ action: "load session file", target: path, environment: "host", why });
}
