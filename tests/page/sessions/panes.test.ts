// Beside the console: variables, files and the tree of branches.

import { describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { openConsole } from "../harness/console.ts";
import { PATIENCE_MS } from "../harness/reader.ts";
import { useStage } from "../harness/stage.ts";

const SOON = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)("the panes of a session", { tags: "stress" }, () => {
  const on = useStage();

  test("a variable of many rows is paged and sorted", async () => {
    const cells = await openConsole(on.stage, "rows");
    const { page } = cells;
    await cells.run("numbers = [(n * 7919) % 100_000 for n in range(100_000)]");
    await page.getByRole("button", { name: /^numbers/ }).click();
    const table = page.getByRole("region", { name: "Rows of numbers" });
    await expect.poll(() => table.innerText(), SOON).toMatch(/0\s+0\s+1\s+7919/);
    await table.evaluate((element) => void (element.scrollTop = element.scrollHeight));
    await expect.poll(() => table.innerText(), SOON).toContain("99999");
    await table.getByRole("columnheader").last().getByRole("button").click();
    await table.evaluate((element) => void (element.scrollTop = 0));
    await expect.poll(() => table.locator("tbody td").allInnerTexts(), SOON).toContain("1");
    expect(await table.locator("tr[aria-rowindex]").count()).toBeLessThan(100);
  });

  test("files are uploaded, shown, and have harmless names", async () => {
    const cells = await openConsole(on.stage, "papers");
    const { page } = cells;
    await cells.run("open('a\\u202egpj.exe', 'w').write('<b>not bold</b>')");
    await page.getByRole("tab", { name: "Files" }).click();
    const content = { mimeType: "text/plain", buffer: Buffer.from("fog until noon") };
    await page.locator("input[type=file]").setInputFiles({ name: "log.txt", ...content });
    await page.getByRole("button", { name: "log.txt", exact: true }).click();
    await page.getByText("fog until noon").waitFor();
    expect(page.url()).toContain("/files/log.txt");
    await page.getByRole("button", { name: "Back to the files" }).click();
    await page.getByRole("button", { name: "a\\u202egpj.exe", exact: true }).click();
    await page.getByText("<b>not bold</b>", { exact: true }).waitFor();
  });

  test("files that are dropped on the pane are uploaded", async () => {
    const cells = await openConsole(on.stage, "dropped");
    const { page } = cells;
    await page.getByRole("tab", { name: "Files" }).click();
    const pane = page.getByRole("tabpanel", { name: "Files" });
    const dataTransfer = await page.evaluateHandle<object>(`(() => {
      const data = new DataTransfer();
      for (const name of ["a.txt", "b.txt"]) data.items.add(new File(["content of " + name], name));
      return data;
    })()`);
    const target = pane.locator("*").first();
    await target.dispatchEvent("dragenter", { dataTransfer });
    await target.dispatchEvent("dragover", { dataTransfer });
    await page.getByText("Drop to upload").waitFor();
    await target.dispatchEvent("drop", { dataTransfer });
    await pane.getByRole("button", { name: "b.txt", exact: true }).waitFor();
    await pane.getByRole("button", { name: "a.txt", exact: true }).click();
    await page.getByText("content of a.txt").waitFor();
    expect(await page.getByText("Drop to upload").count()).toBe(0);
  });

  test("a checkpoint is a node to go back to, and a fork one to open", async () => {
    const cells = await openConsole(on.stage, "tree");
    const { page } = cells;
    await cells.run("state = 'before'");
    await cells.cell(1).waitFor();
    await page.getByRole("tab", { name: "Branches" }).click();
    await page.getByRole("button", { name: "Checkpoint" }).first().click();
    const node = page.getByRole("tabpanel").getByRole("button", { name: "Checkpoint", exact: true }).last();
    await page.getByTitle("Rewind to it").waitFor();
    await cells.run("state = 'after'");
    await cells.cell(2).waitFor();
    await node.click();
    await page.getByText("names are as they were at the checkpoint").waitFor();
    await cells.run("state");
    await expect.poll(() => cells.cell(3).innerText(), SOON).toContain("'before'");
    await expect.poll(() => page.getByRole("tabpanel").innerText(), SOON).toContain("Abandoned");
    await page.getByRole("button", { name: "Fork" }).first().click();
    await page.getByText("This is a live copy of tree").waitFor();
    await page.getByRole("link", { name: "Forked from tree" }).waitFor();
  });

  test("code that waits says so, and can be taken out of the queue", async () => {
    const cells = await openConsole(on.stage, "queue");
    const { page } = cells;
    await cells.run("import time; time.sleep(600)");
    await page.getByText("running").first().waitFor();
    await cells.run("'never'");
    const waiting = page.getByRole("article").nth(1);
    await expect.poll(() => waiting.innerText(), SOON).toContain("waiting");
    await waiting.getByRole("button").last().click();
    await page.getByRole("menuitem", { name: "Take it out of the queue" }).click();
    await expect.poll(() => waiting.innerText(), SOON).toContain("Interrupted");
    await page.keyboard.press("Control+c");
    await expect.poll(() => cells.cell(1).innerText(), SOON).toContain("KeyboardInterrupt");
  });

  test("completion and signatures come from the live namespace", async () => {
    const cells = await openConsole(on.stage, "help");
    const { page } = cells;
    await cells.run("def lantern_count(ship, *, lit=True):\n    '''How many lanterns a ship has.'''\n");
    await cells.editor.pressSequentially("lantern_c");
    await page.getByRole("option", { name: /lantern_count/ }).waitFor();
    await page.keyboard.press("Tab");
    await cells.editor.pressSequentially("(");
    await page.getByText("How many lanterns a ship has.").last().waitFor();
  });

  test("a signature of many parameters takes a few lines, and shows the one that comes next", async () => {
    const cells = await openConsole(on.stage, "many");
    const names = Array.from({ length: 80 }, (_, n) => `lantern_number_${n}=None`);
    await cells.run(`def hang(${names.join(", ")}): pass`);
    await cells.cell(1).waitFor();
    await cells.editor.pressSequentially(`hang(${"0, ".repeat(40)}`);
    const line = cells.page.locator(".rlm-signature-line");
    await expect.poll(() => line.locator("b").innerText(), SOON).toContain("lantern_number_40=None");
    const [outer, inner] = [await line.boundingBox(), await line.locator("b").boundingBox()];
    expect(outer?.height).toBeLessThan(120);
    expect(inner?.y).toBeGreaterThanOrEqual(outer?.y ?? Infinity);
    expect(inner?.y).toBeLessThan((outer?.y ?? 0) + (outer?.height ?? 0));
  });
});
