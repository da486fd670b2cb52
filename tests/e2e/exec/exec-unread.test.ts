// `rlm exec` with a reader that does not read: the code waits for it, nothing is stored, and it can be stopped all the same.

import { createHash } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { COMMAND, shell, start, type Program } from "../program.ts";

const LINES = 200_000;

/** Prints 200 MB, and says on stderr when it has made no progress for two seconds. */
const PRINTS = `
import sys, threading, time
count = 0
def watch():
    before = -1
    while count < ${LINES}:
        if count == before:
            print("waiting", file=sys.stderr, flush=True)
            return
        before = count
        time.sleep(2)
threading.Thread(target=watch, daemon=True).start()
while count < ${LINES}:
    print(f"{count:0999d}")
    count += 1
print("printed all", file=sys.stderr, flush=True)
`;

/** Files without a name that the program holds, where output would be stored. */
function storedFiles({ pid }: Program): string[] {
  const folder = `/proc/${pid}/fd`;
  const targets = readdirSync(folder).map((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`);
    } catch {
      return ""; // closed meanwhile
    }
  });
  return targets.filter((target) => target.endsWith("(deleted)"));
}

describe.concurrent("output that is not read", () => {
  test(
    "makes the code wait, is stored nowhere, and is complete when it is read at last",
    { tags: "stress" },
    async () => {
      await using program = start(["exec", "-c", PRINTS], { unread: true });
      const [said] = await program.until(/waiting|printed all/, "stderr");
      expect(said).toBe("waiting");
      expect(storedFiles(program)).toEqual([]);
      program.readAll();
      expect((await program.ended).code).toBe(0);
      const expected = createHash("md5");
      for (let line = 0; line < LINES; line += 1) expected.update(`${String(line).padStart(999, "0")}\n`);
      expect(createHash("md5").update(program.bytes("stdout")).digest("hex")).toBe(expected.digest("hex"));
    },
  );

  test("does not keep Ctrl-C from the code", { tags: "stress" }, async () => {
    await using program = start(["exec", "-c", PRINTS], { unread: true });
    expect((await program.until(/waiting|printed all/, "stderr"))[0]).toBe("waiting");
    program.signal("SIGINT");
    expect((await program.exit).code).toBe(130);
    // Where the machine is so busy that the code does not run within the grace, it is killed.
    const ending = /(KeyboardInterrupt|Cancelled: the code did not .*)\nrlm: \d+ bytes of output were not read\n$/;
    expect(program.text("stderr")).toMatch(ending);
  });

  test("does not keep a time limit from the code", { tags: "stress" }, async () => {
    const reader = "sh -c 'echo reader $$ >&2; exec sleep 60'";
    const program = shell(`(${COMMAND} exec --timeout 1 -c 'while True: print("x" * 1000)'; echo $? >&2) | ${reader}`);
    await using _ = program;
    const [, pid] = await program.until(/reader (\d+)/, "stderr");
    await program.until(/KeyboardInterrupt\nrlm: stopped.*\nrlm: \d+ bytes of output were not read\n124\n$/, "stderr");
    process.kill(Number(pid), "SIGKILL");
  });
});
