// Makes a release on this machine: everything up to the tag. Pushing the tag publishes it (.github/workflows/release.yml).
//
//   npm run release -- patch|minor|major|X.Y.Z             checks, version, changelog, package, commit, tag
//   npm run release -- minor --dry-run                     the same in a temporary clone, which is deleted
//   node scripts/release.mjs notes vX.Y.Z                  prints the notes of a tag, if package and changelog agree with it
//
// It pushes nothing and publishes nothing. It signs no provenance: npm does that only in a CI job that has an OIDC token, and its
// dry run does not try. A step that fails leaves the tree as it was. The package and the notes are in release/ afterwards.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { notesOf, releaseChangelog } from "./release/changelog.mjs";
import { compareVersions, isVersion, nextVersion } from "./release/versions.mjs";

const BRANCH = "main";
const CHANGED = ["package.json", "package-lock.json", "CHANGELOG.md"];
const WORKFLOW = ".github/workflows/release.yml";
const USAGE = "usage: npm run release -- patch|minor|major|X.Y.Z [--dry-run]";

const project = fileURLToPath(new URL("..", import.meta.url));
// Ctrl-C ends the command that runs; then the tree is put in order.
process.on("SIGINT", () => {});
try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}

function main(args) {
  if (args[0] === "notes" && args.length === 2) return printNotes(args[1]);
  const words = args.filter((arg) => arg !== "--dry-run");
  if (words.length !== 1 || words[0].startsWith("-")) throw new Error(USAGE);
  const version = nextVersion(packageOf(project).version, words[0]);
  checkTree();
  checkVersion(version);
  checkProvenance();
  // Fails before the long checks if there is nothing to release.
  releaseChangelog(read(project, "CHANGELOG.md"), version, today());
  say(`version ${version}: running .ci/run`);
  run(project, ".ci/run", []);
  if (args.includes("--dry-run")) return rehearse(version);
  release(project, version);
  say(`committed and tagged v${version}. Nothing is published. To publish it: git push origin ${BRANCH} v${version}`);
}

/** Version, changelog, package, commit, tag. */
function release(folder, version) {
  const out = join(folder, "release");
  try {
    run(folder, "npm", ["version", version, "--no-git-tag-version", "--allow-same-version", "--ignore-scripts"]);
    const changelog = releaseChangelog(read(folder, "CHANGELOG.md"), version, today());
    writeFileSync(join(folder, "CHANGELOG.md"), changelog);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out);
    writeFileSync(join(out, "notes.md"), notesOf(changelog, version));
    run(folder, "npm", ["pack", "--pack-destination", "release"]);
    // Without "./" npm takes the path for a repository.
    const tarball = `./release/${packageOf(folder).name}-${version}.tgz`;
    const tag = version.includes("-") ? "next" : "latest";
    run(folder, "npm", ["publish", tarball, "--provenance", "--access", "public", "--tag", tag, "--dry-run"]);
    say("npm accepts the package. Its dry run signs no provenance: that needs the OIDC token of the release workflow");
    git(folder, "commit", "--quiet", "--message", `release: ${version}`, "--", ...CHANGED);
  } catch (error) {
    git(folder, "checkout", "--quiet", "HEAD", "--", ...CHANGED);
    rmSync(out, { recursive: true, force: true });
    throw error;
  }
  // Headings of the notes begin with "#", which is not a comment here.
  git(folder, "tag", "--annotate", "--cleanup=whitespace", "--file", join(out, "notes.md"), `v${version}`);
}

/** The whole release in a clone. */
function rehearse(version) {
  const temp = mkdtempSync(join(tmpdir(), "rlm-release-"));
  try {
    const clone = join(temp, "clone");
    git(project, "clone", "--quiet", "--no-hardlinks", "--branch", BRANCH, project, clone);
    for (const key of ["user.name", "user.email"]) {
      const value = git(project, "config", "--default", "", key);
      if (value !== "") git(clone, "config", key, value);
    }
    if (existsSync(join(project, "node_modules"))) {
      symlinkSync(join(project, "node_modules"), join(clone, "node_modules"));
    }
    release(clone, version);
    say(`notes of v${version}:`);
    process.stdout.write(readFileSync(join(clone, "release", "notes.md"), "utf8"));
    say("dry run: that was a temporary clone. Nothing has changed here");
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** For the workflow: the tag, the package and the changelog name one version. */
function printNotes(tag) {
  const version = tag.replace(/^v/, "");
  const lock = JSON.parse(read(project, "package-lock.json"));
  const named = { "package.json": packageOf(project).version, "package-lock.json": lock.version };
  for (const [file, other] of Object.entries(named)) {
    if (other !== version) throw new Error(`the tag is ${tag}, and ${file} has version ${other}`);
  }
  process.stdout.write(notesOf(read(project, "CHANGELOG.md"), version));
}

function checkTree() {
  const branch = git(project, "branch", "--show-current");
  if (branch !== BRANCH) throw new Error(`releases are made on ${BRANCH}, and this is ${branch || "no branch"}`);
  const changes = git(project, "status", "--porcelain");
  if (changes !== "") throw new Error(`the tree has changes that are not committed:\n${changes}`);
  git(project, "var", "GIT_COMMITTER_IDENT"); // fails, with what to do, if git does not know who commits
  const behind = spawnSync("git", ["rev-list", "--count", "HEAD..@{upstream}"], { cwd: project, encoding: "utf8" });
  if (behind.status === 0 && behind.stdout.trim() !== "0") {
    throw new Error(`${BRANCH} is ${behind.stdout.trim()} commits behind its upstream: git pull`);
  }
}

function checkVersion(version) {
  const tags = git(project, "tag", "--list", "v*").split("\n");
  const released = tags.map((tag) => tag.slice(1)).filter((name) => isVersion(name));
  const latest = released.toSorted(compareVersions).at(-1);
  if (latest !== undefined && compareVersions(version, latest) <= 0) {
    throw new Error(`version ${version} is not newer than the released ${latest}`);
  }
  const current = packageOf(project).version;
  if (compareVersions(version, current) < 0) throw new Error(`version ${version} is older than ${current}`);
}

/** What can be known about provenance without publishing. */
function checkProvenance() {
  if (packageOf(project).private === true) throw new Error("package.json is private: npm would not publish it");
  const workflow = existsSync(join(project, WORKFLOW)) ? read(project, WORKFLOW) : "";
  for (const part of ["id-token: write", "npm publish", "--provenance"]) {
    if (!workflow.includes(part)) throw new Error(`${WORKFLOW} cannot publish with provenance: "${part}" is missing`);
  }
}

function packageOf(folder) {
  return JSON.parse(read(folder, "package.json"));
}

function read(folder, file) {
  return readFileSync(join(folder, file), "utf8");
}

function today() {
  return new Date().toISOString().slice(0, 10);
}

function git(cwd, ...args) {
  const { status, stdout, stderr, error } = spawnSync("git", args, { cwd, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`);
  return stdout.trimEnd();
}

/** Shows the command and its output on stderr. */
function run(cwd, command, args) {
  say(`$ ${[command, ...args].join(" ")}`);
  const { status, signal, error } = spawnSync(command, args, { cwd, stdio: ["ignore", 2, 2] });
  if (error !== undefined) throw error;
  if (status !== 0) {
    throw new Error(`${[command, ...args.slice(0, 1)].join(" ")} failed (${signal ?? `exit code ${status}`})`);
  }
}

function say(line) {
  process.stderr.write(`release: ${line}\n`);
}
