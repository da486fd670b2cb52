// What the host does with the files of a session behind the seat belt, while code renames them.

import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder, removeTree, sizeOf, walk } from "../../../../src/environments/wasm/seat-belt/folder-tree.ts";
import { openFolder, openInner } from "../../../../src/environments/wasm/seat-belt/inner-path.ts";

/** A folder of a session beside one of the host. */
function makeFolders() {
  const top = mkdtempSync(join(tmpdir(), "rlm-test-"));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [work, host] = [join(top, "work"), join(top, "host")];
  for (const path of [work, host]) mkdirSync(path);
  writeFileSync(join(host, "secret"), "secret");
  return { work, host };
}

function open(path: string) {
  const folder = openFolder(path);
  onTestFinished(() => closeSync(folder.fd));
  return folder;
}

test("a folder that is replaced by a link while it is listed leads nowhere else", async () => {
  const { work, host } = makeFolders();
  mkdirSync(join(work, "d"));
  writeFileSync(join(work, "d", "f"), "");
  writeFileSync(join(work, "e"), "");
  const seen: string[] = [];
  for await (const { path } of walk(open(work), 5)) {
    seen.push(path);
    if (path !== "d") continue;
    renameSync(join(work, "d"), join(work, "was-d"));
    symlinkSync(host, join(work, "d"));
  }
  expect(seen).toEqual(["d", "e"]);
});

test("removing a folder removes links in it, and nothing that they lead to", async () => {
  const { work, host } = makeFolders();
  mkdirSync(join(work, "d", "sub"), { recursive: true });
  symlinkSync(host, join(work, "d", "sub", "link"));
  symlinkSync(host, join(work, "link"));
  await removeTree(open(work), "d");
  await removeTree(open(work), "link");
  expect(readdirSync(work)).toEqual([]);
  expect(readdirSync(host)).toEqual(["secret"]);
});

test(
  "folders that are deeper than the host has descriptors for are measured in part, and removed",
  { tags: "stress" },
  async () => {
    const { work } = makeFolders();
    mkdirSync(join(work, ...Array.from({ length: 1000 }, () => "d")), { recursive: true });
    writeFileSync(join(work, "d", "f"), "x".repeat(1000));
    expect(await sizeOf(work)).toBeGreaterThanOrEqual(1000);
    await removeTree(open(work), "d");
    expect(readdirSync(work)).toEqual([]);
  },
);

test("a folder without permissions is removed when its session has ended", async () => {
  const { work } = makeFolders();
  mkdirSync(join(work, "d"), { mode: 0o000 });
  await removeFolder(work);
  expect(() => readdirSync(work)).toThrow("ENOENT");
  await removeFolder(work);
});

test("a path over a link is refused, and says so", () => {
  const { work, host } = makeFolders();
  symlinkSync(host, join(work, "link"));
  expect(() => openInner(work, "link/secret")).toThrow("it contains a symbolic link");
  expect(() => openInner(work, "../host/secret")).toThrow("it leads out of the working directory");
});
