import { constants, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodeFiles } from "../../../src/environments/wasm/node-files.ts";
import { openTestRuntime, valueOf } from "../../open.ts";
import { hasPyodide, installWasm } from "./open-wasm.ts";

describe("what Node needs in a sandbox", () => {
  const system = "7f00-7f01 r-xp 00000000 08:01 12   /usr/lib/libc.so.6\n7f01-7f02 rw-p 00000000 00:00 0\n";

  test.each([
    {
      from: "a version manager",
      node: "/home/u/.nvm/v24/bin/node",
      library: "",
      wanted: ["/home/u/.nvm/v24/bin/node"],
    },
    {
      from: "conda, with the folder of its libraries",
      node: "/opt/conda/bin/node",
      library: "/opt/conda/lib/libuv.so.1.0.0",
      wanted: ["/opt/conda/bin/node", "/opt/conda/lib"],
    },
    {
      from: "Nix",
      node: "/nix/store/a-node/bin/node",
      library: "/nix/store/b-uv/lib/libuv.so.1",
      wanted: ["/nix/store"],
    },
    {
      from: "Homebrew",
      node: "/home/linuxbrew/.linuxbrew/Cellar/node/24/bin/node",
      library: "/home/linuxbrew/.linuxbrew/Cellar/icu4c/78/lib/libicuuc.so.78.1",
      wanted: ["/home/linuxbrew/.linuxbrew"],
    },
    {
      from: "anywhere, without the libraries of an addon",
      node: "/opt/node/bin/node",
      library: "/home/u/project/node_modules/images/lib/libvips.so.42",
      wanted: ["/opt/node/bin/node"],
    },
  ])("Node from $from", ({ node, library, wanted }) => {
    expect(nodeFiles(node, `${system}7f02-7f03 r-xp 00000000 08:01 99 ${library}\n`)).toEqual(wanted);
  });

  test.skipIf(!hasPyodide)(
    "a session starts with a Node in a folder that only its owner can enter",
    { tags: "stress" },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "rlm-node-"));
      const node = join(folder, "bin", "node");
      mkdirSync(join(folder, "bin"));
      copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
      const { execPath } = process;
      process.execPath = node;
      onTestFinished(() => {
        process.execPath = execPath;
        rmSync(folder, { recursive: true, force: true });
      });
      installWasm();
      const runtime = await openTestRuntime({ environment: "wasm" });
      onTestFinished(() => runtime.close());
      const session = await runtime.openSession();
      expect(await valueOf(session, "6 * 7")).toBe("42");
    },
  );
});
