// The probes of the corpus for WebAssembly, and our own: none brings back a secret of the host, and the host goes on.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Runtime } from "../../internals.ts";
import { hasPyodide, installWasm } from "../../environments/wasm/open-wasm.ts";
import { openTestRuntime } from "../../open.ts";

import { expand } from "../probe.ts";
import { readCorpus } from "../stage.ts";
import { OWN_PROBES } from "./own-probes.ts";

const CANARY = "CANARY-of-the-host";
const CORPUS: readonly (readonly [string, string])[] = readCorpus("sandbox-probes.json")
  .probes.filter(({ category }) => category === "wasm-escape")
  .map(({ id, code }) => [id, code]);

describe.skipIf(!hasPyodide)("probes in wasm in a tier", { tags: "stress" }, () => {
  describeProbes("in a tier");
});
describe.skipIf(!hasPyodide)("probes in wasm behind the seat belt", { tags: "stress" }, () => {
  describeProbes("behind the seat belt");
});

function describeProbes(where: "in a tier" | "behind the seat belt"): void {
  const home = mkdtempSync(join(tmpdir(), "rlm-home-"));
  let runtime: Runtime;
  beforeAll(async () => {
    installWasm();
    if (where === "behind the seat belt") vi.stubEnv("RLM_SANDBOX_TIER", "seat-belt");
    mkdirSync(join(home, ".ssh"));
    writeFileSync(join(home, ".ssh", "id_rsa"), CANARY, { mode: 0o644 });
    vi.stubEnv("CANARY", CANARY);
    runtime = await openTestRuntime({ environment: "wasm", poolSize: 2 });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await runtime.close();
    rmSync(home, { recursive: true, force: true });
  });

  test("they ran where they should", async () => {
    await using session = await runtime.openSession();
    expect((await session.execute("1").result).status).toBe("ok");
    const { tier } = runtime.report();
    expect(tier === "seat-belt").toBe(where === "behind the seat belt");
  });

  test("the corpus has 13 of them", () => {
    expect(CORPUS).toHaveLength(13);
  });

  test.each(CORPUS)("%s", (_id, code) => expectHeld(code));

  describe("our own", { tags: "stress" }, () => {
    test.each(Object.entries(OWN_PROBES))("%s", (_id, code) => expectHeld(code));
  });

  async function expectHeld(code: string): Promise<void> {
    await using session = await runtime.openSession();
    const values = { HOME: home, SECRET: join(home, ".ssh", "id_rsa") };
    const result = await session.execute(expand(code, values)).result;
    expect(result.status).not.toBe("ok");
    expect(JSON.stringify(result)).not.toContain(CANARY);
    expect(await session.execute("1 + 1").result).toMatchObject({ status: "ok" }); // in another worker, if it ended
  }
}
