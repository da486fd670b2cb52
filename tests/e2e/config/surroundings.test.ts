// Where something is missing around the program: Python, a home directory, an account, files, space. Each is one sentence, or it works.

/** @module-tag stress */

import { chmodSync, symlinkSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { COMMAND, rlm, shell, type Ended } from "../program.ts";

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder[Symbol.dispose]());

const lines = (text: string): number => text.trimEnd().split("\n").length;

function writeProgram(name: string, text: string): string {
  const path = folder.write(name, text);
  chmodSync(path, 0o755);
  return path;
}

describe("a Python that cannot be used says why, with exit code 70", () => {
  const OLD = `#!/bin/sh
case "$4" in *without*) echo "python 3.8 without:" ;; *) echo "it is Python 3.8" >&2; exit 1 ;; esac
`;
  const cases: readonly (readonly [string, () => string, string])[] = [
    ["nothing there", () => "/nowhere", "there is no such file"],
    ["not executable", () => folder.write("python", "x"), "it is not executable: allow that with chmod +x"],
    ["no virtual environment", () => folder.path, "it is a folder without bin/python3"],
    [
      "a virtual environment whose Python is gone",
      () => {
        folder.write("venv/bin/x", "");
        symlinkSync("/nowhere/python3", folder.at("venv/bin/python3"));
        return folder.at("venv");
      },
      "bin/python3 is a link to /nowhere/python3, which does not exist",
    ],
    [
      "a script that fails",
      () => writeProgram("fails", "#!/bin/sh\necho first >&2; echo 'no libpython here' >&2; exit 127\n"),
      "it does not start: no libpython here",
    ],
    [
      "a script without an interpreter",
      () => writeProgram("orphan", "#!/nowhere/sh\n"),
      "the program that its first line names does not exist",
    ],
    ["another program", () => "/bin/true", "it does not behave like Python"],
    [
      "one that is too old",
      () => {
        const old = writeProgram("old", OLD);
        return writeProgram("shim", `#!/bin/sh\necho ${old}\n`);
      },
      "it is Python 3.8, and 3.9 or newer is needed",
    ],
    [
      "one without ctypes",
      () => {
        const bare = writeProgram("bare", OLD.replace("3.8 without:", "3.11 without:ctypes"));
        return writeProgram("shim", `#!/bin/sh\necho ${bare}\n`);
      },
      "its standard library lacks ctypes. Install all of it",
    ],
  ];

  test.each(cases)("%s", async (_, make, why) => {
    const path = make();
    const { code, stdout, stderr } = await rlm(["exec", "--python", path, "-c", "1"]);
    expect({ code, stdout, lines: lines(stderr) }).toEqual({ code: 70, stdout: "", lines: 1 });
    expect(stderr).toMatch(/^rlm: cannot use environment 'local': Python '.*' from --python cannot be used: /);
    expect(stderr).toContain(why);
  });

  test("the message says who chose it", async () => {
    const data = { RLM_DATA: makeDataFolder(folder.at("data")), HOME: folder.path };
    const variable = await rlm(["exec", "-c", "1"], { env: { ...data, RLM_PYTHON: "/nowhere" } });
    expect([variable.code, variable.stderr]).toEqual([
      70,
      expect.stringContaining("Python '/nowhere' from RLM_PYTHON cannot be used: there is no such file"),
    ]);
    folder.write(".config/rlm/config.toml", "[sessions]\n\npython = '/nowhere'\n");
    const file = await rlm(["repl"], { env: { ...data, RLM_PYTHON: "" }, cwd: folder.path });
    expect([file.code, file.stderr]).toEqual([
      70,
      expect.stringContaining("Python '/nowhere' from .config/rlm/config.toml:3 cannot be used"),
    ]);
  });

  test("a run without Python is 70, too", async () => {
    const { code, stdout, stderr } = await rlm(["run", "--demo", "--quiet", "--python", "/nowhere"]);
    expect([code, stdout]).toEqual([70, ""]);
    expect(stderr).toMatch(/^rlm: the run failed: Cannot use environment .* there is no such file/);
  });
});

describe("an environment that cannot be had is 70, with the reason", () => {
  test.each([
    ["exec", ["exec", "-c", "1"]],
    ["repl", ["repl"]],
    ["run", ["run", "--demo"]],
    ["serve", ["serve", "--port", "0"]],
  ])("%s", async (_, args) => {
    const env = { RLM_ENVIRONMENT: "docker", RLM_TOKEN: "t", DOCKER_HOST: "unix:///nowhere/docker.sock" };
    const { code, stderr } = await rlm(args, { env });
    expect(code).toBe(70);
    expect(stderr).toMatch(/annot use environment 'docker': there is no Docker engine at \S+\. Start Docker.*\n$/);
  });
});

describe("a data folder that cannot be written", () => {
  /** Runs a command in its own mount namespace, with a tmpfs as data folder. */
  const onTmpfs = (options: string, command: string): Promise<Ended> => {
    folder.write("data/x", "");
    const mount = `mount -t tmpfs -o mode=700,${options} tmpfs ${folder.at("data")}`;
    return shell(`RLM_DATA=${folder.at("data")} unshare -m sh -c '${mount} && ${command}'`).ended;
  };
  const mayMount = spawnSync("unshare", ["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;

  test("a run answers all the same, and says that it is not recorded", async () => {
    const data = `${folder.write("file", "")}/data`;
    const { code, stdout, stderr } = await rlm(["run", "--demo", "--quiet", "--json"], { env: { RLM_DATA: data } });
    const why = `cannot write to ${data}/runs: part of the path is a file. Set RLM_DATA to another folder`;
    const result = JSON.parse(stdout) as { readonly runId: string };
    expect([code, result]).toEqual([0, expect.objectContaining({ status: "final", notRecorded: why })]);
    expect(stderr).toBe(`rlm: run ${result.runId} is not recorded in full: ${why}\n`);
    expect(JSON.parse((await rlm(["logs", "--json"], { env: { RLM_DATA: data } })).stdout)).toMatchObject({ total: 0 });
  });

  test.for([
    ["read-only", "ro", "the file system is read-only. Set RLM_DATA to another folder"],
    ["full", "size=64k", "the disk is full. Free some space there, or set RLM_DATA to another folder"],
  ] as const)("%s", async ([, options, why], { skip }) => {
    if (!mayMount) return skip("this user may not mount");
    const { code, stdout, stderr } = await onTmpfs(options, `${COMMAND} run --demo --quiet`);
    expect([code, stdout]).toEqual([0, expect.stringContaining("lanterns")]);
    expect(stderr).toMatch(/^rlm: run r-\w+ is not recorded in full: cannot write to .*\/data\/runs: /);
    expect(stderr).toContain(why);
    const executed = await onTmpfs(options, `${COMMAND} exec -c "print(6*7)"`);
    expect(executed).toEqual({ code: 0, stdout: "42\n", stderr: "" });
    const serving = await onTmpfs(
      options === "ro" ? options : "nr_inodes=2",
      `env -u RLM_TOKEN ${COMMAND} serve --port 0`,
    );
    expect(serving.code).toBe(70);
    expect(serving.stderr).toMatch(/^rlm: cannot (?:keep|write) the token (?:in|to) .*\/data\/server.* RLM_TOKEN$/m);
    const reason = options === "ro" ? "the file system is read-only" : "there is no space left on the disk";
    expect(serving.stderr).toContain(`: ${reason}. Set RLM_DATA to `);
    const project = folder.write("project/rlm.toml", "[sessions]\npython = '/usr/bin/python3'\n");
    const fill = `dd if=/dev/zero of=${folder.at("data/filled")} bs=1k 2>&-; `;
    const trusting = await onTmpfs(options, `${options === "ro" ? "" : fill}${COMMAND} config trust --yes ${project}`);
    expect([trusting.code, trusting.stderr]).toEqual([70, expect.stringContaining(`: ${reason}. Set RLM_DATA to `)]);
  });
});

test("few open files: one sentence with the command that raises the limit", async () => {
  const few = await shell(`ulimit -n 64; ${COMMAND} exec -c 1`).ended;
  expect([few.code, few.stdout, few.stderr]).toEqual([
    70,
    "",
    expect.stringMatching(
      /^rlm: cannot use environment .* may have 64 files open, .* at least 96\. Raise the limit: ulimit -n 1024\n$/,
    ),
  ]);
  const fewer = await shell(`ulimit -n 24; ${COMMAND} exec -c 1`).ended;
  expect([fewer.code, fewer.stderr]).toEqual([
    70,
    expect.stringMatching(
      /^rlm: (?:(?:cannot start: )?too many files are open|cannot use environment .* at least 96)\. Raise the limit: ulimit -n 1024\n$/,
    ),
  ]);
  expect(await shell(`ulimit -n 128; ${COMMAND} exec -c "print(1)"`).ended).toEqual({
    code: 0,
    stdout: "1\n",
    stderr: "",
  });
});

test("without HOME it works", async () => {
  makeDataFolder(folder.at("data"));
  const ended = await shell(`RLM_DATA=${folder.at("data")} env -u HOME ${COMMAND} exec -c "print(1)"`).ended;
  expect(ended).toEqual({ code: 0, stdout: "1\n", stderr: "" });
});

test("a user without an account and without HOME: code runs, and a run says that it is not recorded", async ({
  skip,
}) => {
  const as = "setpriv --reuid 12345 --regid 12345 --clear-groups env -u HOME -u RLM_DATA -u XDG_DATA_HOME";
  const cli = COMMAND.split(" ").at(-1) ?? "";
  if (process.getuid?.() !== 0) return skip("only root can become another user");
  if ((await shell(`${as} test -r ${cli}`).ended).code !== 0) return skip("another user cannot read the program here");
  if ((await shell(`${as} test -x ${process.execPath}`).ended).code !== 0) return skip("another user has no Node here");
  if ((await shell(`${as} test -w /`).ended).code === 0) return skip("every user may write to / here");
  expect(await shell(`cd / && ${as} ${COMMAND} exec -c "print(1)"`).ended).toEqual({
    code: 0,
    stdout: "1\n",
    stderr: "",
  });
  const run = await shell(`cd / && ${as} ${COMMAND} run --demo --quiet`).ended;
  expect([run.code, run.stderr]).toEqual([
    0,
    expect.stringMatching(
      /^rlm: run r-\w+ is not recorded in full: cannot write to \/\.local\/share\/rlm\/runs: .* Set RLM_DATA/,
    ),
  ]);
});

test("a current folder that was removed does not matter", async () => {
  const gone = folder.at("gone");
  folder.write("gone/x", "");
  const ended = await shell(`cd ${gone} && rm -r ${gone} && ${COMMAND} exec -c "print(1)"`).ended;
  expect(ended).toEqual({ code: 0, stdout: "1\n", stderr: "" });
});
