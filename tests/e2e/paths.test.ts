// Messages about files of this machine name the file or the folder, and say what to do.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rlm } from "./program.ts";

let cwd: string;
beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "rlm-paths-")));
  mkdirSync(join(cwd, "folder"));
  writeFileSync(join(cwd, "notes.txt"), "hello");
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const RUN = ["run", "Why?", "--model", "m", "--backend", "scripted"];

test.each([
  [["exec", "--session-file", "folder", "-c", "1"], "cannot save to 'folder': it is a folder. Name a file in it"],
  [
    ["exec", "--session-file", "notes.txt/x", "-c", "1"],
    "cannot save to 'notes.txt/x': 'CWD/notes.txt' is not a folder",
  ],
  [
    ["exec", "--session-file", "notes.txt", "-c", "1"],
    "cannot load session file 'notes.txt': it is not a session file",
  ],
  [["exec", "--mount", "", "-c", "1"], "cannot read '' as a mount: expected PATH[:ro|rw]"],
  [["exec", "--mount", "gone", "-c", "1"], "cannot mount 'CWD/gone': it does not exist"],
  [["repl", "--session-file", "folder"], "cannot save to 'folder': it is a folder. Name a file in it"],
  [["serve", "--log-file", "folder"], "cannot write the log to 'folder': it is a folder. Name a file in it"],
  [["serve", "--log-file", "gone/log"], "cannot write the log to 'gone/log': there is no folder 'CWD/gone'"],
  [[...RUN, "--schema", "gone.json"], "cannot use the schema 'gone.json': there is no such file"],
  [[...RUN, "--schema", "folder"], "cannot use the schema 'folder': it is a folder"],
  [[...RUN, "--schema", "notes.txt"], "cannot use the schema 'notes.txt': it is not JSON: "],
  [[...RUN, "--context", "gone"], "cannot take 'gone' as context: there is no such file or folder"],
])("%j: %s", async (args, message) => {
  const { code, stdout, stderr } = await rlm(args, { cwd });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`rlm: ${message.replaceAll("CWD", cwd)}`);
  expect(stderr.split("\n")).toHaveLength(2);
});

test("commands of the console name the path", async () => {
  const stdin = [
    "_ = open('x.txt', 'w').write('1'); import os; os.mkdir('d')",
    ":save folder",
    ":save notes.txt/x",
    ":load folder",
    ":load gone",
    ":put folder",
    ":put gone",
    ":put notes.txt d",
    ":get x.txt gone/x.txt",
    ":get x.txt folder",
  ];
  const { code, stderr } = await rlm(["repl"], { cwd, stdin: stdin.join("\n") });
  expect({ code, lines: stderr.trimEnd().split("\n") }).toEqual({
    code: 0,
    lines: [
      `Cannot save to '${cwd}/folder' in session 's1': it is a folder. Name a file in it`,
      `Cannot save to '${cwd}/notes.txt/x' in session 's1': '${cwd}/notes.txt' is not a folder`,
      `Cannot load session file '${cwd}/folder': it is a folder`,
      `Cannot load '${cwd}/gone': there is no such file`,
      `Cannot read the host's '${cwd}/folder': it is a folder`,
      `Cannot read the host's '${cwd}/gone': there is no such file`,
      `Cannot write 'd': it is a folder`,
      `Cannot write the host's '${cwd}/gone/x.txt': there is no folder '${cwd}/gone'`,
      `'${cwd}/folder' is there already: give another path`,
    ],
  });
});

test("code does not run if its state could not be saved", async () => {
  const { stdout } = await rlm(["exec", "--session-file", "folder", "-c", "print('ran')"], { cwd });
  expect(stdout).toBe("");
});
