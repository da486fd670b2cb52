// Runs in the page: started, followed, read, searched, compared and exported.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { hasBrowser } from "../harness/browser.ts";
import { PATIENCE_MS } from "../harness/reader.ts";
import { useStage } from "../harness/stage.ts";
import { COMPARED, DETAILED, writeRunList } from "../recordings/run-list.ts";
import { RULES } from "../script.ts";

const SOON = { timeout: PATIENCE_MS };
const LOG = Array.from({ length: 400 }, (_, day) => `Day ${day}: ${day % 90} ships at the pier`).join("\n");

describe.skipIf(!hasBrowser)("runs", () => {
  const on = useStage({ rules: RULES, prepare: writeRunList });

  test("a run is started with a file, and shown as it goes on to its answer", async () => {
    const { page } = await on.stage.open("#/runs");
    await page.getByRole("button", { name: "Model and limits" }).click();
    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("rlm");
    await page.getByRole("textbox", { name: "Question" }).fill("How many lanterns came into the HARBOUR?");
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Add files" }).click();
    await (await chooser).setFiles({ name: "log.txt", mimeType: "text/plain", buffer: Buffer.from(LOG) });
    await page.getByRole("list", { name: "Files" }).getByText("log.txt").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expect.poll(() => new URL(page.url()).hash, SOON).toMatch(/^#\/runs\/r-/);
    await page.getByText("Corvus: 200 lanterns; Brigid: none").first().waitFor();
    await page
      .getByRole("treegrid")
      .getByRole("row", { name: /batch of 2/ })
      .waitFor();
    await page
      .getByRole("treegrid")
      .getByRole("row", { name: /batch of 5/ })
      .waitFor();
  });

  test("files that are dropped on the question are its material", { tags: "stress" }, async () => {
    const { page } = await on.stage.open("#/runs");
    const dataTransfer = await page.evaluateHandle<object>(`(() => {
      const data = new DataTransfer();
      for (const name of ["march.txt", "april.txt"]) data.items.add(new File(["log of " + name], name));
      return data;
    })()`);
    const question = page.getByRole("textbox", { name: "Question" });
    await question.fill("What is in it?");
    await question.dispatchEvent("dragover", { dataTransfer });
    await question.dispatchEvent("drop", { dataTransfer });
    const files = page.getByRole("list", { name: "Files" });
    await expect.poll(() => files.getByRole("listitem").allInnerTexts(), SOON).toHaveLength(2);
    await files.getByRole("button", { name: "Remove march.txt" }).click();
    expect(await files.innerText()).toContain("april.txt");
    expect(await files.getByRole("listitem").count()).toBe(1);
  });

  test("a run is followed live, and cancelled", async () => {
    const { page } = await on.stage.open("#/runs");
    await page.getByRole("button", { name: "Model and limits" }).click();
    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("rlm");
    await page.getByRole("textbox", { name: "Question" }).fill("An ENDLESS one");
    await page.keyboard.press("Control+Enter");
    await page
      .getByRole("treegrid")
      .getByRole("row", { name: /step 2/ })
      .waitFor();
    await page.getByText("running").first().waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByText("cancelled").first().waitFor();
    await page
      .getByRole("treegrid")
      .getByRole("row", { name: /model cancelled/ })
      .waitFor();
  });

  test("tree, waterfall and transcript are one: a row that is chosen anywhere is chosen everywhere", async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}/n0/2`);
    const chosen = page.getByRole("row", { selected: true });
    await expect.poll(() => chosen.innerText(), SOON).toMatch(/step 2/);
    // The code in a message of the prompt looks like code.
    await page
      .getByRole("region", { name: "Transcript" })
      .getByRole("code")
      .filter({ hasText: "```repl" })
      .first()
      .waitFor();
    await page.getByRole("region", { name: "Transcript" }).getByRole("heading", { name: "step 2" }).waitFor();
    await page.keyboard.press("j");
    await expect.poll(() => chosen.innerText(), SOON).toMatch(/model/);
    await expect.poll(() => new URL(page.url()).hash, SOON).toMatch(/\/n0\/2\/c\d+$/);
    await page.getByRole("region", { name: "Transcript" }).getByText("Reply").first().waitFor();
    // Folding hides the rows below, and says how many there are.
    const rows = async (): Promise<number> => Number(await page.getByRole("treegrid").getAttribute("aria-rowcount"));
    const before = await rows();
    await page.keyboard.press("H");
    await expect.poll(rows, SOON).toBeLessThan(before);
    await page.getByRole("row", { name: /\+\d+/ }).first().waitFor();
  });

  test("a permalink opens the same step in another tab", { tags: "stress" }, async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}/n1/1`);
    const heading = page.getByRole("region", { name: "Transcript" }).getByRole("heading", { name: "step 1" });
    await heading.waitFor();
    const again = await on.stage.open(new URL(page.url()).hash);
    await again.page.getByRole("row", { selected: true, name: /step 1/ }).waitFor();
  });

  test("the usage of a run has an address", { tags: "stress" }, async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}`);
    const usage = page.getByRole("region", { name: "Usage" });
    await page.getByRole("tab", { name: "Usage" }).click();
    await usage.getByRole("link", { name: "n1", exact: true }).click();
    await expect.poll(() => new URL(page.url()).hash, SOON).toMatch(/\/n1\?view=usage$/);
    await page.reload();
    await usage.waitFor();
    await page.goBack();
    await page.getByRole("treegrid").waitFor();
    expect(await usage.count()).toBe(0);
  });

  test("the time axis is zoomed by dragging, by keys and by the wheel", async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}`);
    const axis = page.getByRole("columnheader", { name: "Time" });
    await axis.waitFor();
    const whole = await axis.innerText();
    await page.keyboard.press("+");
    await expect.poll(() => axis.innerText(), SOON).not.toBe(whole);
    await page.keyboard.press("0");
    await expect.poll(() => axis.innerText(), SOON).toBe(whole);
    const box = await axis.boundingBox();
    if (box === null) throw new Error("There is no axis");
    await page.mouse.move(box.x + box.width * 0.3, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 8, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => axis.innerText(), SOON).not.toBe(whole);
  });

  test(
    "what is said about a bar stands after it, also where the bar reaches the end of the axis",
    { tags: "stress" },
    async () => {
      for (const viewport of ["desktop", "phone"] as const) {
        const { page } = await on.stage.open(`#/runs/${DETAILED}`, { viewport });
        const axis = page.getByRole("columnheader", { name: "Time" });
        const edgeOf = async (): Promise<number> => {
          const box = await axis.boundingBox();
          return box === null ? 0 : box.x + box.width;
        };
        for (const label of [
          page
            .getByRole("row")
            .nth(1)
            .getByText(/^5 min/),
          axis.getByText("at once"),
        ]) {
          const box = await label.boundingBox();
          expect(box?.x).toBeGreaterThan((await edgeOf()) - 10);
          expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((await edgeOf()) + 80);
        }
      }
    },
  );

  test("the columns before the time are widened by dragging and by keys, and stay so", { tags: "stress" }, async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}`);
    const border = page.getByRole("separator", { name: "Width of the columns before the time" });
    const width = async (): Promise<number> => Number(await border.getAttribute("aria-valuenow"));
    const before = await width();
    await border.press("ArrowRight");
    expect(await width()).toBe(before + 16);
    const box = await border.boundingBox();
    if (box === null) throw new Error("There is no border");
    await page.mouse.move(box.x, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x - 100, box.y + 200, { steps: 5 });
    await page.mouse.up();
    const after = await width();
    expect(after).toBeLessThan(before - 50);
    await page.reload();
    await expect.poll(width, SOON).toBe(after);
    await border.press("Enter");
    await expect.poll(width, SOON).toBe(before);
  });

  test("everything in a run is searched, and a match leads to its place", async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}`);
    await page.getByRole("searchbox", { name: "Search in the run" }).fill("could not be parsed");
    const results = page.getByRole("region", { name: "Search results" });
    await results.getByRole("button").first().click();
    await expect.poll(() => new URL(page.url()).hash, SOON).toMatch(/\/n\d+\/\d+/);
    await page.getByRole("region", { name: "Transcript" }).getByText("could not be parsed").first().waitFor();
  });

  test("two runs are compared side by side, and where they part is marked", { tags: "stress" }, async () => {
    const { page } = await on.stage.open("#/runs");
    const boxes = page.getByRole("checkbox", { name: /Which ships carried lanterns/ });
    await boxes.first().check();
    await boxes.last().check();
    await page
      .getByRole("button", { name: /^Compare/ })
      .first()
      .click();
    await page.getByText("the runs part here").waitFor();
    // When they started tells them apart.
    const names = await page.getByRole("rowheader", { name: / ago$/ }).allInnerTexts();
    expect(names.map((name) => name.replaceAll(/\s+/g, " "))).toEqual(["Left 2 h ago", "Right 4 d ago"]);
    expect(decodeURIComponent(page.url())).toMatch(new RegExp(COMPARED.join("|")));
  });

  test("a run is exported as one file, which opens without a server", async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}`);
    await page.getByRole("treegrid").waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    using folder = new Folder();
    const path = folder.at("run.html");
    await (await saved).saveAs(path);
    expect(readFileSync(path, "utf8")).not.toContain(on.stage.token);

    const offline = await on.stage.openOffline(pathToFileURL(path).href);
    await offline.page.getByText("Aurora: 1,204 lanterns").first().waitFor();
    await offline.page
      .getByRole("treegrid")
      .getByRole("row", { name: /step 2/ })
      .first()
      .click();
    await offline.page.getByText("Step 2. The entries about").first().waitFor();
    await offline.screenshot("run-exported");
    expect(await offline.violations()).toEqual([]);

    const astray = await on.stage.openOffline(`${pathToFileURL(path).href}#/%E0`);
    await astray.page.getByText("Aurora: 1,204 lanterns").first().waitFor();
  });
});
