import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { start } from "../program.ts";

test("init writes an rlm.toml, says what to do next, and replaces one only with --force", async () => {
  using folder = new Folder();
  const first = await start(["init"], { cwd: folder.path }).ended;
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(/^Wrote rlm\.toml\. Next:\n/);
  const written = readFileSync(folder.at("rlm.toml"), "utf8");
  expect(written).toContain("[rlm]");

  folder.write("rlm.toml", "mine");
  const second = await start(["init"], { cwd: folder.path }).ended;
  expect(second).toEqual({
    code: 2,
    stdout: "",
    stderr: "rlm: rlm.toml is there already, and was not touched. --force replaces it\n",
  });
  expect(readFileSync(folder.at("rlm.toml"), "utf8")).toBe("mine");

  expect(await start(["init", "--force"], { cwd: folder.path }).ended).toMatchObject({ code: 0 });
  expect(readFileSync(folder.at("rlm.toml"), "utf8")).toBe(written);
});
