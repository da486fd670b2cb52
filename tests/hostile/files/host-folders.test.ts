// Host folders mounted below a session's working directory survive the end of the session.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openTestRuntime, valueOf } from "../../open.ts";
import { skipInTierC } from "../../tier.ts";

/** The working directory inside is /work, so the host folder must lie below a folder of that name. */
function makeFolder(): string | undefined {
  try {
    isParentOurs = mkdirSync("/work", { recursive: true }) !== undefined;
    return mkdtempSync("/work/rlm-test-");
  } catch {
    return undefined;
  }
}

let isParentOurs = false;
const folder = makeFolder();

test.skipIf(folder === undefined)(
  "outlive the session, are not copied by a fork, and are the same for both",
  async (context) => {
    skipInTierC(context, "no folder of the host lies below its working directory");
    const top = String(folder);
    const path = `${top}/project`;
    try {
      mkdirSync(path);
      for (const place of [top, path]) chmodSync(place, 0o777);
      writeFileSync(`${path}/precious`, "yes");
      chmodSync(`${path}/precious`, 0o666);
      await using runtime = await openTestRuntime({ poolSize: 0 });
      const session = await runtime.openSession({ mounts: [{ path, mode: "rw" }] });
      await session.execute("open('/work/own', 'w').close()").result;
      const fork = await session.fork();
      const inside = JSON.stringify(path.replace("/work/", ""));
      expect(await valueOf(fork, `import os; os.path.islink(${inside}), open(${inside} + "/precious").read()`)).toBe(
        "(True, 'yes')",
      );
      await session.close();
      const isSwept = "import time\nwhile os.path.exists('/work/own'): time.sleep(0.001)\nos.listdir('/work')";
      expect(await valueOf(fork, isSwept)).toBe(`['${top.replace("/work/", "")}']`);
      await fork.close();
      expect(readdirSync(path)).toEqual(["precious"]);
      expect(existsSync(`${path}/precious`)).toBe(true);
    } finally {
      rmSync(top, { recursive: true });
      if (isParentOurs) rmdirSync("/work");
    }
  },
);
