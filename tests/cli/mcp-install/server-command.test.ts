import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { absoluteOptions, cautions, stableNode } from "../../../src/cli/mcp-install/server-command.ts";

describe("options of the server", () => {
  test("paths become absolute, everything else stays", () => {
    const options = ["--tools", "core", "--mount", "data:rw", "--mount=~/more", "--python", "./venv", "--structured"];
    expect(absoluteOptions(options, "/home/user")).toEqual([
      "--tools",
      "core",
      "--mount",
      resolve("data:rw"),
      "--mount=/home/user/more",
      "--python",
      resolve("venv"),
      "--structured",
    ]);
  });

  test("the name of an interpreter stays a name", () => {
    expect(absoluteOptions(["--python", "python3.12"], "/home/user")).toEqual(["--python", "python3.12"]);
  });

  test("--http is refused, because the client starts the server", () => {
    expect(() => absoluteOptions(["--http"], "/home/user")).toThrow("--http is for clients that connect");
  });
});

describe("the path of Node", () => {
  test("is Homebrew's link, which survives upgrades", () => {
    const node = "/opt/homebrew/Cellar/node@22/22.1.0/bin/node";
    expect(stableNode(node, (path) => path === "/opt/homebrew/opt/node@22/bin/node")).toBe(
      "/opt/homebrew/opt/node@22/bin/node",
    );
    expect(stableNode(node, () => false)).toBe(node);
  });

  test("is otherwise that of this process", () => {
    expect(stableNode("/usr/bin/node", () => true)).toBe("/usr/bin/node");
  });
});

test("warns about what may not last", () => {
  const npx = {
    command: "node",
    args: ["/home/user/.npm/_npx/ab12/node_modules/rlm-runtime/dist/cli.cjs", "mcp-serve"],
  };
  expect(cautions(npx, {})).toEqual([expect.stringContaining("npm install -g rlm-runtime")]);
  const plain = { command: "node", args: ["/opt/cli.js", "mcp-serve"] };
  expect(cautions(plain, { RLM_PYTHON: "/venv" })).toEqual([expect.stringContaining("-- --python /venv")]);
  expect(cautions({ ...plain, args: [...plain.args, "--python=/venv"] }, { RLM_PYTHON: "/venv" })).toEqual([]);
});
