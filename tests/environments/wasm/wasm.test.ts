/** @module-tag stress */

import { describe, test } from "vitest";
import { describeEnvironment } from "../../contracts/environment.ts";
import { hasPyodide, NO_PYODIDE, openWasm, WASM_CAPABILITIES } from "./open-wasm.ts";

describe.skipIf(!hasPyodide)("wasm", () => {
  const capabilities = WASM_CAPABILITIES;
  describeEnvironment("wasm", { open: () => openWasm(), capabilities });
  describe("with a pool", () => {
    describeEnvironment("wasm, from the pool", { open: () => openWasm({ poolSize: 2 }), capabilities });
  });
});

test.skipIf(hasPyodide)(`wasm is not tested: ${NO_PYODIDE}`, () => {});
