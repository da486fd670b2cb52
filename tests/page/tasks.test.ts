// Tasks in the page: started, watched while they print, fed, paused and cancelled.

import { describe, expect, test } from "vitest";
import { hasBrowser } from "./harness/browser.ts";
import { PATIENCE_MS } from "./harness/reader.ts";
import { useStage } from "./harness/stage.ts";

const SOON = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)("tasks", () => {
  const on = useStage();

  test("output appears while a task prints, in the colours of a terminal", async () => {
    const task = on.stage.runtime.shell("printf '\\033[31mred\\033[0m plain\\n'; read line; echo got $line", {
      id: "t-colours",
      stdin: "open",
    });
    const { page } = await on.stage.open("#/tasks/t-colours");
    const red = page.getByText("red", { exact: true });
    const plain = page.getByText(/plain/);
    await red.waitFor();
    expect(await colour(red)).not.toBe(await colour(plain.first()));

    await page.getByLabel("Input").fill("a line");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("got a line").waitFor();
    await task;
    await page.getByText("completed").first().waitFor();
  });

  test("a task is paused, resumed and cancelled", async () => {
    const task = on.stage.runtime.shell("echo begun; sleep 600", { id: "t-sleeping" });
    const { page } = await on.stage.open("#/tasks/t-sleeping");
    await page.getByText("begun", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the task" }).click();
    expect((await task).status).toBe("cancelled");
    await page.getByText("cancelled").first().waitFor();
  });

  test("a command that failed is marked by its exit code, in the list, by itself and in the palette", async () => {
    await on.stage.runtime.shell("echo 'no such target' >&2; exit 2", { id: "t-failed" });
    const { page } = await on.stage.open("#/tasks");
    const row = page.getByRole("row", { name: /no such target/ });
    await row.getByText("exit 2", { exact: true }).waitFor();
    expect(await row.getByText("completed").count()).toBe(0);
    await row.getByRole("link").first().click();
    const task = page.getByRole("article", { name: "Task t-failed" });
    await task.getByText("exit 2", { exact: true }).waitFor();
    expect(await task.getByText("completed").count()).toBe(0);
    await page.keyboard.press("Control+k");
    const option = page.getByRole("option", { name: /no such target/ });
    await option.getByText("exit 2", { exact: true }).waitFor();
  });

  test("a command is started from the page, and is in the list", async () => {
    const { page } = await on.stage.open("#/tasks");
    await page.getByRole("button", { name: "Run a command", exact: true }).first().click();
    await page
      .getByRole("dialog")
      .getByRole("textbox", { name: /^Command/ })
      .fill("echo from the page");
    await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("from the page", { exact: true }).first().waitFor();
    await expect.poll(() => new URL(page.url()).hash, SOON).toMatch(/^#\/tasks\/.+/);
  });
});

async function colour(element: { evaluate(script: (node: object) => string): Promise<string> }): Promise<string> {
  return element.evaluate((node) => (globalThis as unknown as Styles).getComputedStyle(node).color);
}

interface Styles {
  getComputedStyle(node: object): { readonly color: string };
}
