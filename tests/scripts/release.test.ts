// Releases of a small repository that has our script, and npm as it is. The registry is a closed port: a dry run needs none.

/** @module-tag stress */

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const CHANGELOG =
  "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-02\n\n### Added\n\n- All.\n";

describe("npm run release", () => {
  test("commits the version, the lock and the changelog, tags them with the notes, and packs", () => {
    using project = new Project();
    const { code, stderr } = project.release("minor");
    expect(stderr).toContain("To publish it: git push origin main v0.2.0");
    expect(code).toBe(0);
    expect(project.git("log", "--format=%s")).toBe("release: 0.2.0\nstart");
    expect(project.git("show", "--format=", "--name-only", "v0.2.0^{commit}").split("\n")).toEqual([
      "CHANGELOG.md",
      "package-lock.json",
      "package.json",
    ]);
    expect(JSON.parse(project.read("package.json"))).toMatchObject({ version: "0.2.0" });
    expect(JSON.parse(project.read("package-lock.json"))).toMatchObject({
      version: "0.2.0",
      packages: { "": { version: "0.2.0" } },
    });
    expect(project.read("CHANGELOG.md")).toMatch(
      /^# Changelog\n\n## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- A thing\.\n\n## \[0\.1\.0\]/,
    );
    expect(project.git("tag", "--list", "--format=%(contents)", "v0.2.0")).toBe("### Added\n\n- A thing.");
    expect(project.read("release/notes.md")).toBe("### Added\n\n- A thing.\n");
    expect(existsSync(join(project.folder, "release/rlm-fixture-0.2.0.tgz"))).toBe(true);
    expect(project.git("status", "--porcelain"), "the tree is clean").toBe("");
    expect(project.release("notes", "v0.2.0")).toMatchObject({ code: 0, stdout: "### Added\n\n- A thing.\n" });
  });

  test("a dry run does it all in a clone, prints the notes and changes nothing", () => {
    using project = new Project();
    const { code, stdout, stderr } = project.release("0.2.0-rc.1", "--dry-run");
    expect(stderr).toContain("checked");
    expect(stderr).toContain("npm publish ./release/rlm-fixture-0.2.0-rc.1.tgz --provenance");
    expect(stderr).toContain("Its dry run signs no provenance");
    expect(stdout).toBe("### Added\n\n- A thing.\n");
    expect(code).toBe(0);
    expect(project.state()).toEqual(project.before);
  });

  test.each([
    ["no argument", [], undefined, "usage: npm run release -- patch|minor|major|X.Y.Z [--dry-run]"],
    ["an unknown option", ["minor", "--dryrun"], undefined, "usage: npm run release"],
    ["what is no version", ["1.0"], undefined, '"1.0" is not a version: use patch, minor, major or X.Y.Z'],
    ["an older version", ["0.0.9"], undefined, "version 0.0.9 is older than 0.1.0"],
    ["a released version", ["0.1.0"], ["tag", "v0.1.0"], "version 0.1.0 is not newer than the released 0.1.0"],
    ["another branch", ["minor"], ["checkout", "-q", "-b", "topic"], "releases are made on main, and this is topic"],
  ] as const)("refuses %s", (_, args, git, message) => {
    using project = new Project();
    if (git !== undefined) project.git(...git);
    const before = project.state();
    const { code, stderr } = project.release(...args);
    expect(stderr).toContain(message);
    expect(stderr, "nothing was run").not.toContain("$ ");
    expect(code).toBe(1);
    expect(project.state()).toEqual(before);
  });

  test("refuses a tree with changes, and names them", () => {
    using project = new Project();
    project.write("left-over.txt", "");
    expect(project.release("minor")).toMatchObject({ code: 1, stderr: expect.stringContaining("?? left-over.txt") });
  });

  test("refuses a changelog with nothing under Unreleased", () => {
    using project = new Project({ "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n" });
    const { code, stderr } = project.release("minor");
    expect(stderr).toContain('CHANGELOG.md has nothing under "[Unreleased]": write what users get');
    expect(code).toBe(1);
  });

  test("refuses a workflow that would publish without provenance", () => {
    using project = new Project({ ".github/workflows/release.yml": "run: npm publish\n" });
    const { code, stderr } = project.release("minor");
    expect(stderr).toContain('cannot publish with provenance: "id-token: write" is missing');
    expect(code).toBe(1);
  });

  test("stops when the checks fail", () => {
    using project = new Project({ ".ci/run": "#!/bin/sh\nexit 3\n" });
    const { code, stderr } = project.release("minor");
    expect(stderr).toContain("release: .ci/run failed (exit code 3)");
    expect(code).toBe(1);
    expect(project.state()).toEqual(project.before);
  });

  test("puts the tree in order when the package cannot be built", () => {
    const scripts = { prepack: "exit 4" };
    using project = new Project({
      "package.json": JSON.stringify({ name: "rlm-fixture", version: "0.1.0", files: ["index.js"], scripts }),
    });
    const { code, stderr } = project.release("minor");
    expect(stderr).toContain("release: npm pack failed");
    expect(code).toBe(1);
    expect(project.state()).toEqual(project.before);
  });

  test("notes are refused for a tag that the package does not have", () => {
    using project = new Project();
    const { code, stdout, stderr } = project.release("notes", "v9.9.9");
    expect(stderr).toBe("release: the tag is v9.9.9, and package.json has version 0.1.0\n");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });
});

describe("versions", async () => {
  const { nextVersion, compareVersions } = (await import(script("versions.mjs"))) as {
    readonly nextVersion: (current: string, wanted: string) => string;
    readonly compareVersions: (a: string, b: string) => number;
  };

  test.each([
    ["0.1.9", "patch", "0.1.10"],
    ["0.1.9", "minor", "0.2.0"],
    ["0.1.9", "major", "1.0.0"],
    ["1.2.3", "1.3.0-rc.1", "1.3.0-rc.1"],
    ["1.3.0-rc.1", "patch", "1.3.0"],
    ["1.3.0-rc.1", "minor", "1.3.0"],
    ["1.3.1-rc.1", "minor", "1.4.0"],
    ["2.0.0-rc.1", "major", "2.0.0"],
    ["2.1.0-rc.1", "major", "3.0.0"],
  ])("%s, %s: %s", (current, wanted, next) => {
    expect(nextVersion(current, wanted)).toBe(next);
  });

  test("are ordered as semver.org orders them", () => {
    const ordered = [
      "0.9.0",
      "0.10.0",
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0",
      "1.0.1",
    ];
    expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered);
    expect(compareVersions("1.0.0-rc.1", "1.0.0-rc.1")).toBe(0);
  });
});

describe("the form of a changelog", async () => {
  const { changelogProblems } = (await import(script("changelog.mjs"))) as {
    readonly changelogProblems: (text: string) => string[];
  };

  test("CHANGELOG.md has it", () => {
    expect(changelogProblems(readFileSync("CHANGELOG.md", "utf8"))).toEqual([]);
  });

  test.each([
    ["no Unreleased", "## [0.1.0] - 2026-01-02\n", 'the first section is not "## [Unreleased]"'],
    ["a version without a date", "## [Unreleased]\n## [0.1.0]\n", '"## [0.1.0]" is neither'],
    ["another kind", "## [Unreleased]\n### New\n", '"### New" in "## [Unreleased]" is none of Added, Changed'],
    [
      "the oldest first",
      "## [Unreleased]\n## [0.1.0] - 2026-01-02\n## [0.2.0] - 2026-02-03\n",
      "newest version is not first",
    ],
  ])("finds %s", (_, text, problem) => {
    expect(changelogProblems(`# Changelog\n\n${text}`)).toEqual([expect.stringContaining(problem)]);
  });
});

function script(name: string): string {
  return new URL(`../../scripts/release/${name}`, import.meta.url).href;
}

/** A repository with our release script, in a temporary folder. */
class Project implements Disposable {
  readonly #base = mkdtempSync(join(tmpdir(), "rlm-release-test-"));
  readonly folder = join(this.#base, "project");
  readonly before: readonly string[];

  constructor(files: Readonly<Record<string, string>> = {}) {
    const version = { name: "rlm-fixture", version: "0.1.0" };
    const all = {
      "package.json": JSON.stringify({ ...version, files: ["index.js"] }),
      "package-lock.json": JSON.stringify({ ...version, lockfileVersion: 3, packages: { "": version } }),
      "index.js": "export {};\n",
      ".gitignore": "/release/\n",
      ".ci/run": "#!/bin/sh\necho checked\n",
      ".github/workflows/release.yml": readFileSync(".github/workflows/release.yml", "utf8"),
      "CHANGELOG.md": CHANGELOG,
      ...files,
    };
    for (const [path, text] of Object.entries(all)) this.write(path, text);
    chmodSync(join(this.folder, ".ci/run"), 0o755);
    cpSync("scripts/release.mjs", join(this.folder, "scripts/release.mjs"));
    cpSync("scripts/release", join(this.folder, "scripts/release"), { recursive: true });
    this.git("init", "-q", "-b", "main");
    this.git("add", "--all");
    this.git("commit", "-q", "-m", "start");
    this.before = this.state();
  }

  release(...args: readonly string[]): Ended {
    return this.#spawn(process.execPath, [join(this.folder, "scripts/release.mjs"), ...args]);
  }

  git(...args: readonly string[]): string {
    const { code, stdout, stderr } = this.#spawn("git", args);
    if (code !== 0) throw new Error(stderr);
    return stdout.trimEnd();
  }

  /** What a release changes. */
  state(): readonly string[] {
    const files = ["package.json", "package-lock.json", "CHANGELOG.md"].map((file) => this.read(file));
    return [this.git("log", "--format=%H"), this.git("tag"), this.git("status", "--porcelain", "--ignored"), ...files];
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.folder, path, ".."), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  [Symbol.dispose](): void {
    rmSync(this.#base, { recursive: true, force: true });
  }

  #spawn(command: string, args: readonly string[]): Ended {
    const who = { NAME: "Release Test", EMAIL: "release@test.invalid" };
    const env = {
      PATH: process.env["PATH"],
      HOME: this.#base, // npm keeps its cache and logs there
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      ...Object.fromEntries(
        Object.entries(who).flatMap(([key, value]) => [
          [`GIT_AUTHOR_${key}`, value],
          [`GIT_COMMITTER_${key}`, value],
        ]),
      ),
      npm_config_registry: "http://127.0.0.1:1/",
      npm_config_fetch_retries: "0",
      npm_config_update_notifier: "false",
    };
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: this.folder, env, encoding: "utf8" });
    if (error !== undefined) throw error;
    return { code: status, stdout, stderr };
  }
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
