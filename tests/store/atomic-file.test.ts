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
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { AtomicFile } from "../../src/store/atomic-file.ts";

const folder = mkdtempSync(join(tmpdir(), "rlm-atomic-file-"));

afterEach(() => vi.unstubAllEnvs());
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
  ["with the help of ln", process.env["PATH"] ?? ""],
  ["where there is no ln", "/nowhere"],
])("replaces an existing file, %s", async (_, path) => {
  vi.stubEnv("PATH", path);
  const place = join(folder, "replaced");
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
