// The console of a session: what is run in it, what it shows, and what can be done with the session.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { useStage } from "../harness/stage.ts";
import { PATIENCE_MS } from "../harness/reader.ts";
import { hasPandas } from "../scene.ts";
import { openConsole } from "../harness/console.ts";

const SOON = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)("the console", () => {
  const on = useStage();

  test("runs code, and shows its output in order, its value and its traceback", async () => {
    const cells = await openConsole(on.stage, "first");
    await cells.run("import sys\nfor n in range(3):\n    print('out', n)\n    print('err', n, file=sys.stderr)\n6 * 7");
    const cell = cells.cell(1);
    await expect.poll(() => cell.innerText(), SOON).toMatch(/out 0[^]*err 0[^]*out 1[^]*err 1[^]*out 2[^]*err 2[^]*42/);
    await cells.run("def fail(depth):\n    return 1 / 0 if depth == 0 else fail(depth - 1)\n\nfail(12)");
    await expect.poll(() => cells.cell(2).innerText(), SOON).toContain("ZeroDivisionError: division by zero");
  });

  test("output appears while the code runs, which can be interrupted", async () => {
    const cells = await openConsole(on.stage, "second");
    await cells.run("import time\nprint('begun')\ntime.sleep(600)");
    await expect.poll(() => cells.cell(1).innerText(), SOON).toContain("begun");
    await cells.page.getByRole("button", { name: "Interrupt" }).first().click();
    await expect.poll(() => cells.cell(1).innerText(), SOON).toContain("KeyboardInterrupt");
  });

  test("two readers of one session see the same, live", async () => {
    const one = await openConsole(on.stage, "shared");
    const other = await openConsole(on.stage, "shared");
    await one.run("shared = 'seen by both'\nshared");
    await expect.poll(() => other.cell(1).innerText(), SOON).toContain("'seen by both'");
    await other.run("shared.upper()");
    await expect.poll(() => one.cell(2).innerText(), SOON).toContain("SEEN BY BOTH");
  });

  test("a reader who jumps to the beginning stays there", { tags: "stress" }, async () => {
    const cells = await openConsole(on.stage, "long");
    for (let number = 1; number <= 12; number += 1) {
      await cells.run(`for n in range(${number}, 40): print(n)`);
      await cells.cell(number).getByText("38 39").waitFor();
    }
    await cells.page.getByRole("region", { name: "Executions" }).evaluate((element) => void (element.scrollTop = 0));
    await cells.cell(1).waitFor();
    await cells.page.getByRole("button", { name: "To the end" }).click();
    await cells.cell(12).waitFor();
    expect(
      await cells.page.evaluate(
        "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('main'))",
      ),
    ).toBe(0);
  });

  test("input() is answered", async () => {
    const cells = await openConsole(on.stage, "asking");
    await cells.run("name = input('Your name? ')\nprint('Hello', name)");
    await cells.page.getByLabel("Your name?").fill("reader");
    await cells.page.keyboard.press("Enter");
    await expect.poll(() => cells.cell(1).innerText(), SOON).toContain("Your name? reader\nHello reader");
    // What others may not see is not shown.
    await cells.run("from getpass import getpass\nprint(len(getpass('Word? ')))");
    await cells.page.getByLabel("Word?").fill("lantern");
    await cells.page.keyboard.press("Enter");
    await expect.poll(() => cells.cell(2).innerText(), SOON).toMatch(/\n7/);
    expect(await cells.cell(2).innerText()).not.toContain("lantern");
  });

  test.skipIf(!hasPandas)("figures and tables are shown inline", async () => {
    const cells = await openConsole(on.stage, "rich");
    await cells.run("import pandas as pd\npd.DataFrame({'n': range(500), 'square': [n * n for n in range(500)]})");
    await cells.cell(1).getByRole("columnheader", { name: "square" }).waitFor();
    await cells.run("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()");
    await cells.cell(2).getByRole("img").waitFor();
  });

  test("a traceback folds", { tags: "stress" }, async () => {
    const { run, cell } = await openConsole(on.stage, "folding");
    await run("def deep(n):\n    return deep(n - 1) if n else [][3]\n\ndeep(5)");
    const title = cell(1).getByRole("button", { name: /IndexError/ });
    await title.waitFor();
    await expect.poll(() => cell(1).innerText(), SOON).toContain("Traceback");
    await title.click();
    await expect.poll(() => cell(1).innerText(), SOON).not.toContain("Traceback");
  });

  test("HTML is shown in a sandboxed frame", async () => {
    const { run, cell } = await openConsole(on.stage, "html", { allow: [/Executing inline script violates/] });
    await run(
      "class Page:\n    def _repr_html_(self):\n        return '<h3>From HTML</h3><script>document.title = origin</script>'\nPage()",
    );
    const frame = cell(1).locator("iframe");
    await frame.contentFrame().getByRole("heading", { name: "From HTML" }).waitFor();
    expect(await frame.getAttribute("sandbox")).not.toContain("allow-same-origin");
  });

  test("the session is reset after a question", async () => {
    const { run, page } = await openConsole(on.stage, "resetting");
    await run("gone = 1\nprint('set')");
    await page.getByText("set", { exact: true }).waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Reset" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
    await run("print('gone' in globals())");
    await page.getByText("False", { exact: true }).waitFor();
  });

  test("files are uploaded, listed and downloaded", { tags: "stress" }, async () => {
    const { run, page } = await openConsole(on.stage, "files");
    await page.getByRole("tab", { name: /Files/ }).click();
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: /Upload/ }).click();
    await (await chooser).setFiles({ name: "up.txt", mimeType: "text/plain", buffer: Buffer.from("from here") });
    await page.getByRole("button", { name: "Actions of up.txt" }).waitFor();
    await run("print(open('up.txt').read(), file=open('down.txt', 'w'))");
    await page.getByRole("button", { name: "Actions of down.txt" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Download" }).click();
    expect(readFileSync(await (await saved).path(), "utf8")).toBe("from here\n");
  });
});
