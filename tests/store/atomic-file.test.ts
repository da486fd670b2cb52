import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type * as childProcess from "node:child_process";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { AtomicFile } from "../../src/store/atomic-file.ts";

const folder = mkdtempSync(join(tmpdir(), "rlm-atomic-file-"));

type ChildProcess = typeof childProcess;
vi.mock("node:child_process", async (importOriginal) => ({
  ...(await importOriginal<ChildProcess>()),
  spawn: vi.fn(),
}));
const original = await vi.importActual<ChildProcess>("node:child_process");
const spawnNothing = (): unknown => original.spawn("/nowhere/ln");
vi.mocked(spawn).mockImplementation(original.spawn);
afterAll(() => rmSync(folder, { recursive: true }));

test("has no name before commit(), and only its own name afterwards", async () => {
  const place = join(folder, "a", "b");
  const file = new AtomicFile(join(place, "file"));
  writeSync(file.fd, "content");
  expect(readdirSync(place)).toEqual([]);
  await file.commit();
  expect(readdirSync(place)).toEqual(["file"]);
  expect(readFileSync(join(place, "file"), "utf8")).toBe("content");
  expect(statSync(join(place, "file")).mode & 0o777).toBe(0o600);
});

test.each([
  ["with the help of ln", true],
  ["where there is no ln", false],
])("replaces an existing file, %s", async (_, hasLn) => {
  vi.mocked(spawn).mockImplementation((hasLn ? original.spawn : spawnNothing) as typeof spawn);
  const place = join(folder, `replaced-${hasLn}`);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "file"), "old");
  chmodSync(join(place, "file"), 0o644);
  const file = new AtomicFile(join(place, "file"));
  writeSync(file.fd, "new");
  expect(readFileSync(join(place, "file"), "utf8")).toBe("old");
  await file.commit();
  expect(readFileSync(join(place, "file"), "utf8")).toBe("new");
  expect(statSync(join(place, "file")).mode & 0o777).toBe(0o600);
  expect(readdirSync(place)).toEqual(["file"]);
});

test("leaves nothing when it is discarded, and keeps an existing file", () => {
  const place = join(folder, "discarded");
  mkdirSync(place);
  writeFileSync(join(place, "file"), "old");
  const file = new AtomicFile(join(place, "file"));
  writeSync(file.fd, "new");
  file.discard();
  file.discard();
  expect(readdirSync(place)).toEqual(["file"]);
  expect(readFileSync(join(place, "file"), "utf8")).toBe("old");
});

test("that cannot be committed changes nothing", async () => {
  const place = join(folder, "kept");
  mkdirSync(join(place, "file"), { recursive: true });
  const file = new AtomicFile(join(place, "file"));
  await expect(file.commit()).rejects.toThrow("EISDIR");
  file.discard();
  expect(readdirSync(place)).toEqual(["file"]);
});
