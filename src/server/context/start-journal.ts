// What this server started, on disk, so that a retry after a restart does not run the work again.
//
// Each server appends to a file of its own, so two of them at once do not disturb each other; when it starts, it reads those of earlier
// ones. Names are stored as digests. Entries count for a day. A journal that cannot be read or written is reported and left out: nothing
// depends on it.

import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseJSON } from "../../util/parse-json.ts";

export interface EarlierStart {
  readonly fingerprint: string;
  /** Null: it was about to start when the server ended. */
  readonly id: string | null;
}

interface Entry extends EarlierStart {
  readonly at: number;
}

export interface JournalOptions {
  readonly now?: () => number;
  /** Called once, when something cannot be read or written. */
  readonly onProblem?: (why: string) => void;
  /** Of its own file. Default: 4 MiB. */
  readonly maxBytes?: number;
}

const KEPT_MS = 86_400_000;
/** Writing one takes much less: another server may be doing it. */
const UNFINISHED_MS = 60_000;
const MAX_ENTRIES = 20_000;
const MAX_FILES = 50;
const MAX_READ_BYTES = 16 * 1024 * 1024;
const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;
const NAME = /^starts-[0-9a-f]{16}\.jsonl$/;
/** Left by a server that ended while it wrote a smaller one. */
const UNFINISHED = /^starts-[0-9a-f]{16}\.jsonl\.new$/;

const digest = z.string().max(100);
const line = z.union([
  z.object({ name: digest, fingerprint: digest, id: z.string().max(200).nullable(), at: z.number() }),
  z.object({ name: digest, id: z.string().max(200) }),
  z.object({ name: digest, cancelled: z.literal(true) }),
]);

export class StartJournal {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #maxBytes: number;
  #onProblem: (why: string) => void;
  /** Of earlier servers, by digest. */
  readonly #earlier = new Map<string, Entry>();
  /** Of this one, the oldest first. */
  readonly #own = new Map<string, Entry>();
  #file: { readonly fd: number; readonly path: string } | undefined;
  #size = 0;
  #isBroken = false;

  /** Use `open`. */
  private constructor(
    folder: string,
    { now = Date.now, onProblem = () => {}, maxBytes = DEFAULT_MAX_BYTES }: JournalOptions,
  ) {
    this.#folder = folder;
    this.#now = now;
    this.#maxBytes = maxBytes;
    this.#onProblem = (why) => {
      this.#onProblem = () => {};
      onProblem(why);
    };
  }

  /** Never throws. Its file is created with the first entry. */
  static open(folder: string, options: JournalOptions = {}): StartJournal {
    const journal = new StartJournal(folder, options);
    journal.#readAll();
    return journal;
  }

  /** What an earlier server started under this name. Undefined: nothing, as far as is known. */
  earlier(name: string): EarlierStart | undefined {
    const entry = this.#earlier.get(toDigest(name));
    return entry !== undefined && this.#now() - entry.at < KEPT_MS ? entry : undefined;
  }

  /** Called before the work starts. `id`: where it is known already. */
  begin(name: string, fingerprint: string, id: string | null): void {
    const at = this.#now();
    const key = toDigest(name);
    this.#own.delete(key);
    this.#own.set(key, { fingerprint, id, at });
    for (const [oldest, entry] of this.#own) {
      if (this.#own.size <= MAX_ENTRIES && at - entry.at < KEPT_MS) break;
      this.#own.delete(oldest);
    }
    this.#write({ name: key, fingerprint, id, at });
  }

  /** It has started, with this id. */
  end(name: string, id: string): void {
    const key = toDigest(name);
    const entry = this.#own.get(key);
    if (entry === undefined || entry.id === id) return;
    this.#own.set(key, { ...entry, id });
    this.#write({ name: key, id });
  }

  /** It could not start. */
  cancel(name: string): void {
    const key = toDigest(name);
    if (this.#own.delete(key)) this.#write({ name: key, cancelled: true });
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = undefined;
    this.#isBroken = true;
  }

  #readAll(): void {
    try {
      const names = readdirSync(this.#folder);
      for (const path of names.filter((name) => UNFINISHED.test(name)).map((name) => join(this.#folder, name))) {
        if (this.#now() - lstatSync(path).mtimeMs >= UNFINISHED_MS) unlinkSync(path);
      }
      const files = names
        .filter((name) => NAME.test(name))
        .map((name) => join(this.#folder, name))
        .map((path) => ({ path, changedAt: lstatSync(path).mtimeMs }))
        .toSorted((a, b) => b.changedAt - a.changedAt);
      for (const [index, { path, changedAt }] of files.entries()) {
        if (index >= MAX_FILES || this.#now() - changedAt >= KEPT_MS) unlinkSync(path);
        else this.#read(path);
      }
    } catch (error) {
      this.#onProblem((error as Error).message);
    }
  }

  /** Links are not followed, and a file of another user or one that is too large is not used. Damaged lines are passed over. */
  #read(path: string): void {
    let fd: number | undefined;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const status = fstatSync(fd);
      if (!status.isFile() || status.uid !== process.getuid?.())
        throw new Error(`'${path}' is not a file of this user`);
      if (status.size > MAX_READ_BYTES) throw new Error(`'${path}' is too large`);
      for (const text of readFileSync(fd, "utf8").split("\n")) this.#take(text);
    } catch (error) {
      this.#onProblem((error as Error).message);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  #take(text: string): void {
    const parsed = line.safeParse(text === "" ? undefined : parseJSON(text)).data;
    if (parsed === undefined) return;
    const { name } = parsed;
    const known = this.#earlier.get(name);
    if ("cancelled" in parsed) this.#earlier.delete(name);
    else if (!("at" in parsed)) {
      if (known !== undefined) this.#earlier.set(name, { ...known, id: parsed.id });
    } else if ((known?.at ?? 0) <= parsed.at && this.#earlier.size < MAX_FILES * MAX_ENTRIES)
      this.#earlier.set(name, parsed);
  }

  #write(entry: object): void {
    if (this.#isBroken) return;
    try {
      const { fd } = this.#usable();
      const data = Buffer.from(`${JSON.stringify(entry)}\n`);
      for (let at = 0; at < data.length;) at += writeSync(fd, data, at);
      this.#size += data.length;
      if (this.#size > this.#maxBytes) this.#compact();
    } catch (error) {
      this.close();
      this.#onProblem((error as Error).message);
    }
  }

  /** Its file; a new one where another server has removed it as old. */
  #usable(): { readonly fd: number; readonly path: string } {
    if (this.#file !== undefined && fstatSync(this.#file.fd).nlink > 0) return this.#file;
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = create(join(this.#folder, `starts-${randomBytes(8).toString("hex")}.jsonl`));
    this.#size = 0;
    return this.#file;
  }

  /** Keeps what still counts, at most half of the limit. */
  #compact(): void {
    const path = this.#file?.path ?? "";
    const temporary = create(`${path}.new`);
    let lines: string[] = [...this.#own].map(
      ([name, { fingerprint, id, at }]) => `${JSON.stringify({ name, fingerprint, id, at })}\n`,
    );
    let size = lines.reduce((sum, { length }) => sum + length, 0);
    while (size > this.#maxBytes / 2 && lines.length > 1) {
      lines = lines.slice(Math.ceil(lines.length / 2));
      size = lines.reduce((sum, { length }) => sum + length, 0);
    }
    const data = Buffer.from(lines.join(""));
    for (let at = 0; at < data.length;) at += writeSync(temporary.fd, data, at);
    renameSync(temporary.path, path);
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = { fd: temporary.fd, path };
    this.#size = data.length;
  }
}

function create(path: string): { readonly fd: number; readonly path: string } {
  const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW } = constants;
  return { fd: openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0o600), path };
}

function toDigest(name: string): string {
  return createHash("sha256").update(name).digest("base64");
}
