// The archive of an image: what gets in, what stays out, and that other programs can read it.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { readElf } from "../../../../src/environments/docker/image/elf.ts";
import { FileTree, TreeTooLarge } from "../../../../src/environments/docker/image/file-tree.ts";
import { addLibraries } from "../../../../src/environments/docker/image/libraries.ts";
import { tarEnd, tarHeader, tarPadding, type TarEntry } from "../../../../src/environments/docker/image/tar.ts";
import { createSystemImage } from "../../../../src/environments/docker/system-image.ts";
import { remove } from "../../../remove.ts";

function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-image-")));
  onTestFinished(() => remove(folder));
  return folder;
}

/** /tmp is excluded, so tests allow their folder. Its own path is left out of what they compare. */
function treeIn(
  folder: string,
  limits = { maxBytes: 1000, maxEntries: 100 },
): { tree: FileTree; paths: () => string[] } {
  const tree = new FileTree({ ...limits, allow: [folder] });
  const paths = (): string[] =>
    tree
      .entries()
      .flatMap(({ path }) => (`/${path}`.startsWith(`${folder}/`) ? [`/${path}`.slice(folder.length + 1)] : []));
  return { tree, paths };
}

test("tar reads names, links and sizes back, however long they are", () => {
  const long = `${"folder/".repeat(30)}ü-${"x".repeat(90)}`;
  const entries: TarEntry[] = [
    { path: "short", kind: "file", mode: 0o755, mtime: 86_400, size: 3 },
    { path: long, kind: "file", mode: 0o644, mtime: 0, size: 0 },
    { path: "link", kind: "link", mode: 0o777, mtime: 0, target: long },
    { path: "tmp", kind: "folder", mode: 0o1777, mtime: 0 },
  ];
  const input = Buffer.concat([
    ...entries.flatMap((entry) =>
      entry.kind === "file" && entry.size > 0
        ? [tarHeader(entry), Buffer.from("abc"), tarPadding(3)]
        : [tarHeader(entry)],
    ),
    tarEnd(),
  ]);
  const args = ["--utc", "--numeric-owner", "--quoting-style=literal", "-tvf", "-"];
  const { stdout, stderr } = spawnSync("tar", args, {
    input,
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  });
  expect(stderr).toBe("");
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.replaceAll(/ +/g, " ")),
  ).toEqual([
    "-rwxr-xr-x 0/0 3 1970-01-02 00:00 short",
    `-rw-r--r-- 0/0 0 1970-01-01 00:00 ${long}`,
    `lrwxrwxrwx 0/0 0 1970-01-01 00:00 link -> ${long}`,
    "drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/",
  ]);
});

describe("a tree of files", () => {
  test("brings the links on the way, and what they lead to", () => {
    const folder = makeFolder();
    mkdirSync(join(folder, "usr"));
    writeFileSync(join(folder, "usr", "program-1"), "");
    symlinkSync("program-1", join(folder, "usr", "program"));
    symlinkSync("usr", join(folder, "bin"));
    const { tree, paths } = treeIn(folder);
    expect(tree.add(join(folder, "bin", "program"))).toBe(join(folder, "usr", "program-1"));
    expect(paths()).toEqual(["bin", "usr", "usr/program", "usr/program-1"]);
  });

  test("leaves out what not everybody may read, links to excluded places, loops and what is no file", () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "secret"), "", { mode: 0o600 });
    mkdirSync(join(folder, "private"));
    writeFileSync(join(folder, "private", "file"), "");
    chmodSync(join(folder, "private"), 0o700);
    for (const [name, target] of [
      ["shadow", "/etc/shadow"],
      ["hosts", "/etc/hosts"],
      ["self", "self"],
      ["null", "/dev/null"],
      ["up", "../../../root"],
    ] as const)
      symlinkSync(target, join(folder, name));
    spawnSync("mkfifo", [join(folder, "pipe")]);
    writeFileSync(join(folder, "open"), "");
    const { tree, paths } = treeIn(folder);
    tree.addAll(folder);
    expect(paths()).toEqual(["open"]);
  });

  test("gives no more rights than to read and to start", () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "program"), "");
    chmodSync(join(folder, "program"), 0o6777);
    const { tree } = treeIn(folder);
    tree.add(join(folder, "program"));
    expect(tree.entries().at(-1)).toMatchObject({ kind: "file", mode: 0o755 });
  });

  test("has limits", () => {
    const folder = makeFolder();
    for (const name of ["a", "b", "c"]) writeFileSync(join(folder, name), "x".repeat(400));
    expect(() => treeIn(folder).tree.addAll(folder)).toThrow(TreeTooLarge);
    expect(() => treeIn(folder, { maxBytes: 10_000, maxEntries: 3 }).tree.addAll(folder)).toThrow(TreeTooLarge);
  });
});

describe("headers of programs", () => {
  test("name the loader and the libraries", () => {
    expect(readElf(realpathSync("/bin/sh"))).toMatchObject({
      loader: expect.stringContaining("/ld-"),
      libraries: expect.arrayContaining([expect.stringMatching(/^libc\./)]),
    });
  });

  test("that are broken name nothing", () => {
    const folder = makeFolder();
    const path = join(folder, "file");
    const header = Buffer.alloc(64, 0xff);
    header.write("\u007fELF\u0002\u0001", 0, "latin1");
    for (const content of [Buffer.alloc(0), Buffer.from("#!/bin/sh\n"), header.subarray(0, 20), header]) {
      writeFileSync(path, content);
      expect(readElf(path)).toBeUndefined();
    }
  });
});

test(
  "an image of Python is the same each time, and has nothing of users and settings",
  { tags: "stress" },
  async () => {
    const image = await createSystemImage();
    const archive = await buffer(image.archive());
    expect(digest(await buffer((await createSystemImage()).archive()))).toBe(digest(archive));
    const { stdout } = spawnSync("tar", ["-tf", "-"], { input: archive, encoding: "utf8", maxBuffer: 1 << 28 });
    const paths = stdout.split("\n");
    expect(paths.length).toBe(image.files + 1);
    const personal = paths.filter(
      (path) => /^(?:home|root|var|run|srv|proc|sys|dev)\/./.test(path) && path !== "var/tmp/",
    );
    expect(personal).toEqual([]);
    const settings = paths.filter((path) => /^etc\/./.test(path) && !/^etc\/(?:alternatives|ssl\/|python3)/.test(path));
    const known = ["etc/group", "etc/ld.so.cache", "etc/localtime", "etc/matplotlibrc", "etc/mime.types", "etc/passwd"];
    expect(settings.filter((path) => !known.includes(path))).toEqual([]);
    expect(
      paths.filter((path) => /(?:^|\/)(?:shadow|private|id_rsa|\.netrc|\.npmrc)/.test(path) && path.startsWith("etc")),
    ).toEqual([]);
  },
);

/** Debian's numpy needs it: a link among the libraries of the system, to one whose own library is beside its target and among these too. */
const LINKED = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/libblas.so.3`;
const NEEDED = join(dirname(LINKED), "libopenblas.so.0");

test.skipIf(!existsSync(LINKED) || !existsSync(NEEDED))(
  "a library behind a link has the libraries that the loader looks for beside the link, and those beside its target",
  () => {
    const tree = new FileTree({ maxBytes: 1 << 30, maxEntries: 1000, allow: [] });
    tree.add(LINKED);
    addLibraries(tree, "/usr/bin/python3");
    const paths = tree.entries().map(({ path }) => `/${path}`);
    expect(paths).toContain(NEEDED);
    expect(paths).toContain(realpathSync(NEEDED));
    expect(paths).toContain(join(dirname(realpathSync(LINKED)), "libopenblas.so.0"));
  },
);

test("an image that would be too large says what to do", async () => {
  await expect(createSystemImage({ maxBytes: 1_000_000 })).rejects.toThrow(
    /exceed 1000000 bytes .* Name a virtual environment/,
  );
});

test("an interpreter where containers have folders of their own is refused", async () => {
  const folder = makeFolder();
  spawnSync("/usr/bin/python3", ["-m", "venv", "--without-pip", folder]);
  await expect(createSystemImage({ python: folder })).rejects.toThrow(/containers cover .* Use a Python elsewhere/);
});

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
