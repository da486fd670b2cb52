// Which servers of this user run on this machine: each `rlm serve` keeps a note in the data folder while it listens.
//
// A note names its process by id and start time, so one that a killed server left is recognised. It is then ignored and removed. Notes of
// other machines that share the data folder are left alone.

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { isAlive, thisWriter } from "../../store/runs/run-files.ts";
import { logWriter } from "../../store/runs/run-log-format.ts";
import { dataFolder, dataPath } from "../../util/data-folder.ts";
import { parseJSON } from "../../util/parse-json.ts";

const FOLDER = join("server", "running");
const NAME = /^\d{1,10}\.json$/;
const MAX_BYTES = 4096;
const MAX_NOTES = 1000;

const note = z.object({
  url: z.url({ protocol: /^http$/ }).max(300),
  process: logWriter,
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  /** Whether its token is the one in the data folder, and not that of RLM_TOKEN. */
  hasStoredToken: z.boolean(),
});

export interface RunningServer {
  readonly url: string;
  readonly hasStoredToken: boolean;
}

/** Notes that this process listens. Dispose when it stops; the end of the process does so, too. Throws the file system's errors. */
export function noteServer({ url, hasStoredToken }: RunningServer): Disposable {
  const folder = dataFolder(FOLDER);
  if (folder === undefined) throw new Error(`'${dataPath(FOLDER)}' cannot be made, or others can write to it`);
  readNotes(folder); // removes what killed servers left
  const path = join(folder, `${process.pid}.json`);
  const content = { url: toReachable(url), process: thisWriter(), startedAt: Date.now(), hasStoredToken };
  const unfinished = `${path}.tmp`; // nobody reads half a note
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(unfinished, path);
  const remove = (): void => rmSync(path, { force: true });
  process.once("exit", remove);
  return {
    [Symbol.dispose]: () => {
      process.off("exit", remove);
      remove();
    },
  };
}

/** The newest first. */
export function runningServers(): readonly RunningServer[] {
  const folder = existsSync(dataPath(FOLDER)) ? dataFolder(FOLDER) : undefined;
  if (folder === undefined) return [];
  return readNotes(folder).toSorted((one, other) => other.startedAt - one.startedAt);
}

/** Those of live servers. Removes the others. */
function readNotes(folder: string): z.output<typeof note>[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .slice(0, MAX_NOTES)
    .flatMap((name) => {
      const path = join(folder, name);
      const { data } = note.safeParse(parseJSON(readNote(path)));
      const isRunning = isAlive(data?.process ?? { pid: Number.parseInt(name, 10), host: hostname(), since: null });
      if (isRunning === false) rmSync(path, { force: true });
      return isRunning === true && data !== undefined ? [data] : [];
    });
}

/** Empty: it is not a small file of this user. */
function readNote(path: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size, uid } = fstatSync(fd);
    return size <= MAX_BYTES && uid === process.getuid?.() ? readFileSync(fd, "utf8") : "";
  } catch {
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** A server that listens on every address is reached at that of loopback. */
function toReachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
