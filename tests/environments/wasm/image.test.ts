// The image that the sessions of a runtime share: what a session does to its descriptor reaches no other runtime.

import { execFileSync } from "node:child_process";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { dataPath } from "../../../src/util/data-folder.ts";
import { PLAIN } from "../../contracts/environment.ts";
import { descendantsOf } from "../../hostile/machine.ts";
import { PYTHON } from "../../open.ts";
import { skipInTierC } from "../../tier.ts";
import { hasPyodide, openWasm } from "./open-wasm.ts";

const MIB = 2 ** 20;
/** As a session would do with the descriptor that it has: prints what it could do. */
const ATTACK = `
import os, sys
done = []
for name, step in (
    ("mode", lambda: os.chmod(sys.argv[1], 0)),
    ("write", lambda: os.write(os.open(sys.argv[1], os.O_RDWR), b"x")),
    ("truncate", lambda: os.truncate(sys.argv[1], 5))):
    try:
        step()
        done.append(name)
    except OSError:
        pass
print(*done)`;

describe.skipIf(!hasPyodide || process.platform !== "linux")("the image", () => {
  test.for([
    ["in a tier", "", ["mode"]],
    ["behind the seat belt", "seat-belt", ["mode", "truncate", "write"]],
  ] as const)("no session changes the image %s", { tags: "stress" }, async ([_where, tier, possible], context) => {
    if (tier === "") skipInTierC(context, "nobody can look into the processes of a session");
    if (tier !== "") vi.stubEnv("RLM_SANDBOX_TIER", tier);
    await using environment = openWasm();
    const sandbox = await environment.openSandbox(PLAIN);
    vi.unstubAllEnvs();
    const image = readdirSync(dataPath("wasm")).find((name) => /^image-.*(?<!\.checked)$/.test(name)) ?? "";
    const path = join(dataPath("wasm"), image);
    const { mode } = statSync(path);
    const descriptors = descriptorsOfImage();
    expect(descriptors).not.toEqual([]);
    for (const descriptor of descriptors) {
      const done = execFileSync(PYTHON, ["-c", ATTACK, descriptor], { encoding: "utf8" }).trim().split(" ");
      expect(possible).toEqual(expect.arrayContaining(done));
    }
    expect(statSync(path).mode).toBe(mode);
    expect(statSync(path).size).toBeGreaterThan(MIB); // not exactly what it was: another process may have made it again
    if (tier === "") await (await environment.openSandbox(PLAIN)).close();
    await sandbox.close();
  });
});

/** In the processes of Node below this one: descriptors of the image, or of a copy in memory. */
function descriptorsOfImage(): readonly string[] {
  return descendantsOf(process.pid)
    .filter((pid) => isNode(pid))
    .flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`))
    .filter((fd) => /rlm-image|\/image-/.test(targetOf(fd)));
}

function isNode(pid: number): boolean {
  return targetOf(`/proc/${pid}/exe`) === process.execPath;
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ""; // it is gone meanwhile
  }
}
