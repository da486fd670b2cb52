import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readBackups, readConfig, replaceConfig } from "../../../src/cli/mcp-install/config-file.ts";

class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "rlm-config-"));

  write(name: string, data: string | Buffer): string {
    writeFileSync(join(this.path, name), data);
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

describe("replacing a file", () => {
  test("keeps its mode, and a backup of the same mode with the old bytes", () => {
    using folder = new Folder();
    const path = folder.write("a.json", "old");
    chmodSync(path, 0o640);
    const backup = replaceConfig(readConfig(path), "new") ?? "";
    expect(backup).toMatch(/a\.json\.bak-\d{8}T\d{6}Z$/);
    expect([readFileSync(path, "utf8"), readFileSync(backup, "utf8")]).toEqual(["new", "old"]);
    expect([statSync(path).mode & 0o777, statSync(backup).mode & 0o777]).toEqual([0o640, 0o640]);
    expect(readdirSync(folder.path)).toHaveLength(2);
  });

  test("that does not exist makes no backup", () => {
    using folder = new Folder();
    const path = join(folder.path, "a.json");
    expect(replaceConfig(readConfig(path), "new")).toBeUndefined();
    expect(readdirSync(folder.path)).toEqual(["a.json"]);
  });

  test("behind links changes the file and not the links", () => {
    using folder = new Folder();
    mkdirSync(join(folder.path, "dotfiles"));
    const file = folder.write("dotfiles/real.json", "old");
    symlinkSync("dotfiles/real.json", join(folder.path, "one.json"));
    symlinkSync(join(folder.path, "one.json"), join(folder.path, "two.json"));
    replaceConfig(readConfig(join(folder.path, "two.json")), "new");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(lstatSync(join(folder.path, "two.json")).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder.path, "one.json")).isSymbolicLink()).toBe(true);
  });

  test("behind a dangling link creates the target", () => {
    using folder = new Folder();
    symlinkSync("real.json", join(folder.path, "link.json"));
    replaceConfig(readConfig(join(folder.path, "link.json")), "new");
    expect(readFileSync(join(folder.path, "real.json"), "utf8")).toBe("new");
    expect(lstatSync(join(folder.path, "link.json")).isSymbolicLink()).toBe(true);
  });

  test("keeps the byte order mark, which is not part of the text", () => {
    using folder = new Folder();
    const path = folder.write("a.json", "\u{FEFF}{}");
    const file = readConfig(path);
    expect(file.text).toBe("{}");
    replaceConfig(file, "[]");
    expect(readFileSync(path, "utf8")).toBe("\u{FEFF}[]");
  });

  test("that has changed since it was read is refused", () => {
    using folder = new Folder();
    const path = folder.write("a.json", "old");
    const file = readConfig(path);
    writeFileSync(path, "theirs");
    expect(() => replaceConfig(file, "new")).toThrow("another program changed it just now");
    expect(readFileSync(path, "utf8")).toBe("theirs");
    expect(readdirSync(folder.path)).toEqual(["a.json"]);
  });

  test("keeps the last five backups, and files with similar names", () => {
    using folder = new Folder();
    const path = folder.write("a.json", "0");
    folder.write("a.json.bak-mine", "mine");
    for (let time = 1; time <= 12; time += 1) replaceConfig(readConfig(path), String(time));
    expect(readBackups(path)).toEqual(["11", "10", "9", "8", "7"]);
    expect(readFileSync(join(folder.path, "a.json.bak-mine"), "utf8")).toBe("mine");
  });
});

describe("what is not a configuration is refused", () => {
  test("bytes that are not UTF-8", () => {
    using folder = new Folder();
    expect(() => readConfig(folder.write("a.json", Buffer.from([0xff, 0xfe, 0x7b, 0])))).toThrow(
      "it is not UTF-8 text",
    );
  });

  test("a folder", () => {
    using folder = new Folder();
    expect(() => readConfig(folder.path)).toThrow("it is not a file");
  });

  test("a cycle of links", () => {
    using folder = new Folder();
    symlinkSync("b", join(folder.path, "a"));
    symlinkSync("a", join(folder.path, "b"));
    expect(() => readConfig(join(folder.path, "a"))).toThrow("too many links");
  });
});
