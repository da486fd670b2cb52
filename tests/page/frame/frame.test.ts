// The frame of the page: the palette, keys, themes, and a server that goes away.

import { describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { openConsole } from "../harness/console.ts";
import { PATIENCE_MS } from "../harness/reader.ts";
import { useStage } from "../harness/stage.ts";

const SOON = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)("the frame", () => {
  const on = useStage();

  test("the palette finds a command, and runs it", async () => {
    const reader = await on.stage.open("#/sessions");
    const { page } = reader;
    await page.getByRole("navigation").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("runs");
    await page.getByRole("option", { selected: true }).filter({ hasText: "Runs" }).first().waitFor();
    await reader.screenshot("palette");
    expect(await reader.violations()).toEqual([]);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash, SOON).toBe("#/runs");
  });

  test("two keys after each other go to a place, and ? shows all keys", async () => {
    const reader = await on.stage.open("#/sessions");
    const { page } = reader;
    await page.getByRole("navigation").first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await expect.poll(() => new URL(page.url()).hash, SOON).toBe("#/tasks");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Search and commands").waitFor();
    await reader.screenshot("shortcuts");
    expect(await reader.violations()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  });

  test("the theme that is chosen stays chosen", async () => {
    const { page } = await on.stage.open("#/sessions", { theme: "light" });
    const background = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.getByRole("button", { name: "Theme" }).click();
    const light = await background();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await expect.poll(background, SOON).not.toBe(light);
    const dark = await background();
    await page.reload();
    await page.getByRole("navigation").first().waitFor();
    expect(await background()).toBe(dark);
  });

  test("files that are dropped beside a place for them are not opened instead of the page", async () => {
    const { page } = await on.stage.open("#/sessions");
    await page.getByRole("navigation").first().waitFor();
    const isLeftToTheBrowser = (type: string, kind: string): Promise<boolean> =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        if (${kind === "file"}) dataTransfer.items.add(new File(["text"], "a.txt"));
        else dataTransfer.setData("text/plain", "a text");
        return document.querySelector("main").dispatchEvent(new DragEvent("${type}", { dataTransfer, bubbles: true, cancelable: true }));
      })()`);
    for (const type of ["dragover", "drop"]) {
      expect(await isLeftToTheBrowser(type, "file")).toBe(false);
      expect(await isLeftToTheBrowser(type, "text")).toBe(true);
    }
  });

  test("a server that is killed is missed, what was seen stays, and a new one is found", async () => {
    const cells = await openConsole(on.stage, "kept", {
      // Requests fail in many ways while there is no server; then the session and its executions have ended with it.
      allow: [/net::ERR_/, /WebSocket/, /410 \(Gone\)/, /404 \(Not Found\).*\/v1\/executions\//],
    });
    const { page } = cells;
    await cells.run("print('seen', 'before')");
    await page.getByText("seen before").waitFor();
    const { serving } = on.stage;
    serving.program.signal("SIGKILL");
    await serving.program.ended;
    await page.getByText(/has not answered since/).waitFor();
    await page.getByText("seen before").waitFor();
    await cells.reader.screenshot("server-lost");
    await serving.restart();
    await page.getByText(/has not answered since/).waitFor({ state: "hidden" });
    await page.getByText("Live", { exact: true }).waitFor();
    // Sessions end with their server.
    await page
      .getByText(/There is no session|The session has ended/)
      .first()
      .waitFor();
  });

  test("code that is shown while the server is gone stays plain text", async () => {
    const cells = await openConsole(on.stage, "plain", {
      allow: [/python-highlight.*net::ERR_/, /net::ERR_.*python-highlight/],
    });
    await cells.page.route("**/python-highlight*", (route) => route.abort("connectionrefused"));
    const refused = cells.page.waitForEvent("requestfailed");
    await cells.run("print('not', 'coloured')");
    await refused;
    await cells.page.getByText("not coloured").waitFor();
    await cells.cell(1).getByText("print('not', 'coloured')").waitFor();
  });
});
