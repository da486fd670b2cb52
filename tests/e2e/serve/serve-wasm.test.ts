// The built `rlm serve --env wasm`, and sessions in WebAssembly on a server whose default is another environment.

/** @module-tag stress */

import { describe, expect, test } from "vitest";
import { WASM_CAPABILITIES, useWasm } from "../../environments/wasm/open-wasm.ts";
import { startServing } from "../serving.ts";
import { describeServed, send } from "./describe-served.ts";

const noWasm = await useWasm();

describe.skipIf(noWasm !== undefined)(`wasm${noWasm === undefined ? "" : ` (skipped: ${noWasm})`}`, () => {
  describeServed("wasm", { capabilities: WASM_CAPABILITIES }, (served) => {
    test.each([
      ["fork", "sessions/s/fork", {}, "FORK_REFUSED", "Save the session"],
      ["checkpoint", "sessions/s/checkpoints", {}, "FORK_REFUSED", "Save the session"],
      ["shell", "tasks", { command: "true", sessionId: "s" }, "CAPABILITY_MISSING", "Run Python"],
    ])("without '%s' %s is a conflict that says what to use", async (capability, path, body, code, use) => {
      const response = await served().ask(path, body);
      expect([response.status, await response.json()]).toEqual([
        409,
        expect.objectContaining({
          code,
          facts: expect.objectContaining({ capability }),
          detail: expect.stringContaining(`environment 'wasm' does not have the capability '${capability}'. ${use}`),
        }),
      ]);
    });

    test("the client rejects with what is missing, and code is told, too", async () => {
      const session = await served().runtime.sessions.get("s");
      await expect(session.fork()).rejects.toMatchObject({ code: "FORK_REFUSED", capability: "fork" });
      await expect(Promise.resolve(session.shell("true"))).rejects.toMatchObject({
        code: "CAPABILITY_MISSING",
        capability: "shell",
        environment: "wasm",
      });
      expect(await session.execute("import threading; threading.Thread(target=print).start()")).toMatchObject({
        error: { name: "RuntimeError", value: expect.stringContaining("the capability 'threads'. Use asyncio") },
      });
    });
  });

  test("a server whose default is 'local' opens sessions in wasm, and shows where each of them runs", async () => {
    await using server = await startServing();
    const open = await send(server, "sessions", { body: { id: "inside", environment: "wasm" } });
    const inside = { id: "inside", environment: "wasm", tier: expect.any(String), capabilities: WASM_CAPABILITIES };
    expect([open.status, await open.json()]).toEqual([201, expect.objectContaining(inside)]);
    await send(server, "sessions", { body: { id: "usual" } });
    const list = (await (await send(server, "sessions")).json()) as { readonly sessions: readonly object[] };
    expect(list.sessions).toMatchObject([inside, { id: "usual", environment: "local", capabilities: { fork: true } }]);
    const code = "import sys; sys.platform";
    const result = await send(server, "sessions/inside/execute", { body: { code } });
    expect(await result.json()).toMatchObject({ value: { "text/plain": "'emscripten'" } });
    expect((await server.rlm(["sessions"])).stdout).toMatch(/^inside +idle +wasm, \S+ /m);
    expect((await server.rlm(["sessions", "show", "inside"])).stdout).toMatch(
      /^capabilities +fork no, .* threads no, /m,
    );
  });
});
