import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Runtime } from "../../internals.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, type Ask } from "./request.ts";

let folder: string;
let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  folder = makeDataFolder();
  vi.stubEnv("RLM_DATA", folder);
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask } = openTestServer(runtime));
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test("added functions are listed, and available in sessions opened later", async () => {
  expect((await ask("GET", "/v1/stdlib")).body).toEqual({ functions: [], modules: [], other: [] });
  const code = "import math\ndef area(r):\n    'Of a circle.'\n    return math.pi * r * r\nTWO = 2\n";
  expect(await ask("POST", "/v1/stdlib", { json: { code } })).toMatchObject({ status: 200 });
  expect((await ask("GET", "/v1/stdlib")).body).toEqual({
    functions: [{ name: "area", signature: "(r)", doc: "Of a circle." }],
    modules: ["math"],
    other: ["TWO"],
  });
  const { body } = await ask("POST", "/v1/sessions", { json: {} });
  expect(body["stdlib"]).toEqual({ loaded: true, error: null });
});

test("invalid Python is 422, and changes nothing", async () => {
  const before = (await ask("GET", "/v1/stdlib")).body;
  expect(await ask("POST", "/v1/stdlib", { json: { code: "def (" } })).toMatchObject({
    status: 422,
    body: { code: "STDLIB" },
  });
  expect(await ask("POST", "/v1/stdlib", { json: { source: "x" } })).toMatchObject({ status: 422 });
  expect((await ask("GET", "/v1/stdlib")).body).toEqual(before);
});
