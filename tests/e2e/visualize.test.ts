// `rlm visualize`: which page it opens, in which browser, and who can see the token on the way.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDataFolder } from "../make-data-folder.ts";
import { remove } from "../remove.ts";
import { rlm, start } from "./program.ts";
import { startServing } from "./serving.ts";
import { TestTerminal } from "./terminal.ts";

const TOKEN = "planted/token+&";
const IN_LINK = encodeURIComponent(TOKEN);

let data: string;
let bin: string;

beforeEach(() => {
  data = makeDataFolder();
  bin = join(data, "bin");
  mkdirSync(bin);
});
afterEach(() => remove(data));

/** A program in the place of `xdg-open`, which keeps what it was given. */
function fakeBrowser(exitCode = 0): Record<string, string> {
  const path = join(bin, "xdg-open");
  writeFileSync(
    path,
    `#!/bin/sh\necho "$@" > '${bin}/arguments'\nstat -c %a "$1" > '${bin}/mode'\ncat "$1" > '${bin}/page'\nexit ${exitCode}\n`,
  );
  chmodSync(path, 0o755);
  return { PATH: `${bin}:${process.env["PATH"] ?? ""}`, DISPLAY: ":77", WAYLAND_DISPLAY: "" };
}

const read = (name: string): string => readFileSync(join(bin, name), "utf8");
const NO_SCREEN = { DISPLAY: "", WAYLAND_DISPLAY: "" };

describe("without a running server", () => {
  test("starts one, prints where the page and the token are, and ends it at Ctrl-C", async () => {
    const env = { RLM_DATA: data, RLM_TOKEN: "", ...NO_SCREEN };
    await using program = start(["visualize", "--port", "0"], { env });
    await program.until(/Ctrl-C ends the server\n/);
    const [listening = "", link = "", token] = program.text("stdout").split("\n");
    const url = listening.replace("listening ", "");
    expect([link, token]).toEqual([`${url}/`, `token in ${join(data, "server", "token")}`]);
    const page = await fetch(link);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="page"></div>')]);
    program.signal("SIGINT");
    expect(await program.ended).toMatchObject({ code: 0, stderr: "" });
    await expect(fetch(link)).rejects.toThrow("fetch failed");
  });

  test("an unknown run starts nothing, and the nearest one is named", { tags: "stress" }, async () => {
    const env = { RLM_DATA: data, ...NO_SCREEN };
    const { stderr: shown } = await rlm(["run", "--demo"], { env });
    const [id = ""] = readdirSync(join(data, "runs")).filter((name) => !name.startsWith("."));
    expect(id, shown).not.toBe("");
    const misspelt = `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;
    expect(await rlm(["visualize", misspelt], { env })).toEqual({
      code: 2,
      stdout: "",
      stderr: `rlm: there is no run '${misspelt}'. Did you mean '${id}'?\n`,
    });
    expect(await rlm(["visualize", "nothing"], { env })).toMatchObject({
      code: 2,
      stderr: "rlm: there is no run 'nothing'. Run 'rlm logs' to see them\n",
    });
    await using program = start(["visualize", "last", "--port", "0"], { env });
    await program.until(/Ctrl-C ends the server\n/);
    expect(program.text("stdout")).toContain(`/#/runs/${id}\n`);
  });
});

describe("with a running server", () => {
  test("opens its page, and ends", async () => {
    await using serving = await startServing([], { RLM_TOKEN: TOKEN });
    const env = { ...serving.env, RLM_TOKEN: TOKEN, ...fakeBrowser() };
    const { code, stdout, stderr } = await rlm(["visualize"], { env });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `opened in the browser. If it does not show the page, open this link:\n${serving.url}/\ntoken from RLM_TOKEN\n`,
      stderr: "",
    });
    expect(read("page")).toContain(`url=${serving.url}/#token=${IN_LINK}">`);
  });

  test("the token is in a file for this user only, never among the arguments of the browser", async () => {
    await using serving = await startServing([], { RLM_TOKEN: TOKEN });
    const env = { ...serving.env, RLM_TOKEN: TOKEN, ...fakeBrowser() };
    await rlm(["visualize"], { env });
    const path = read("arguments").trim();
    expect(path).toMatch(/\/server\/links\/[0-9a-f]{24}\.html$/);
    expect(read("mode").trim()).toBe("600");
    expect(existsSync(path), "it is there for a browser that starts slowly").toBe(true);
    await rlm(["visualize"], { env });
    expect(existsSync(path), "the next one removes what is left").toBe(false);
  });

  test(
    "whatever is in the folder of links, the page opens, and what a link leads to stays",
    { tags: "stress" },
    async () => {
      await using serving = await startServing([], { RLM_TOKEN: TOKEN });
      const env = { ...serving.env, RLM_TOKEN: TOKEN, ...fakeBrowser() };
      const folder = join(serving.env["RLM_DATA"] ?? "", "server", "links");
      mkdirSync(join(folder, "a folder", "inside"), { recursive: true, mode: 0o700 });
      writeFileSync(join(bin, "kept"), "kept");
      symlinkSync(bin, join(folder, "elsewhere"));
      const { code, stderr } = await rlm(["visualize"], { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{24}\.html$/)]);
      expect(read("kept")).toBe("kept");
    },
  );

  test.each([
    ["there is no screen", () => NO_SCREEN],
    ["the browser fails", () => fakeBrowser(3)],
    ["--no-open is given", () => fakeBrowser()],
  ])("prints the link where %s, and leaves no file", async (why, browser) => {
    await using serving = await startServing([], { RLM_TOKEN: TOKEN });
    const env = { ...serving.env, RLM_TOKEN: TOKEN, ...browser() };
    const args = why.startsWith("--") ? ["visualize", "--no-open"] : ["visualize"];
    const { code, stdout } = await rlm(args, { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${serving.url}/\ntoken from RLM_TOKEN\n` });
    const folder = join(serving.env["RLM_DATA"] ?? "", "server", "links");
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });

  test("on a terminal the link has the token", async () => {
    await using serving = await startServing([], { RLM_TOKEN: TOKEN });
    const env = { ...serving.env, RLM_TOKEN: TOKEN, ...NO_SCREEN };
    await using terminal = new TestTerminal(["visualize"], { env, columns: 200 });
    expect(await terminal.ended).toBe(0);
    expect(terminal.raw).toContain(`${serving.url}/#token=${IN_LINK}`);
  });

  test("a wrong token is refused before anything opens", async () => {
    await using serving = await startServing();
    const env = { ...serving.env, RLM_TOKEN: "wrong", ...fakeBrowser() };
    const { code, stderr } = await rlm(["visualize"], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("the token from RLM_TOKEN") });
    expect(existsSync(join(bin, "page"))).toBe(false);
  });
});
