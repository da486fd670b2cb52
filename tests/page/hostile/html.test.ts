// A hostile session tries with HTML and SVG to get the token of the page, or to reach an address. Each attack first succeeds on a page
// without walls.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import type { Reader } from "../harness/reader.ts";
import { useStage } from "../harness/stage.ts";
import { openCanary, type Canary } from "./canary.ts";
import { CONTROL_TOKEN, openControl, type Control } from "./control.ts";
import { BLOCKED, checkUntouched, showOutput } from "./hostile.ts";
import { htmlAttacks, type Attack } from "./html-attacks.ts";

/** For a contact that is made late, or never. */
const LATE_MS = 700;

describe.skipIf(!hasBrowser)("HTML and SVG of a session", { tags: "stress" }, () => {
  const on = useStage();
  let canary: Canary;
  let control: Control;
  beforeAll(async () => {
    if (hasBrowser) [canary, control] = await Promise.all([openCanary(), openControl()]);
  });
  afterAll(async () => {
    await canary?.[Symbol.asyncDispose]();
    await control?.[Symbol.asyncDispose]();
  });

  // The port of the canary is known only when it listens.
  test.each(htmlAttacks(0).map(({ name }, index) => ({ name, index })))("$name reaches nothing", async ({ index }) => {
    const attack = htmlAttacks(canary.port)[index] as Attack;
    const reader = await on.stage.open("#/sessions", { allow: BLOCKED });
    await succeedWithoutWalls(reader, attack);

    canary.clear();
    await showOutput(on.stage, reader, attack.isSVG === true ? "svg" : "html", attack.html);
    const frame = reader.page.frameLocator("iframe");
    await frame.locator("body > *").first().waitFor({ state: "attached" });
    await reader.page.waitForTimeout(LATE_MS);
    expect(await frame.locator("body").getAttribute("data-ran"), "scripts wait for the reader").toBeNull();
    expect(canary.hits).toEqual([]);
    await checkUntouched(on.stage, reader);

    const run = reader.page.getByRole("button", { name: "Run them" });
    if ((await run.count()) > 0) {
      await run.click();
      if (attack.html.includes("dataset.ran") && attack.leavesFrame !== true)
        await reader.page.frameLocator("iframe").locator('body[data-ran="yes"]').waitFor({ state: "attached" });
      await reader.page.waitForTimeout(LATE_MS);
      expect(canary.hits).toEqual([]);
      await checkUntouched(on.stage, reader);
    }
  });

  async function succeedWithoutWalls(reader: Reader, { html, leaks }: Attack): Promise<void> {
    canary.clear();
    control.show(html);
    const context = await reader.context.browser()?.newContext();
    if (context === undefined) throw new Error("The reader has no browser");
    const page = await context.newPage();
    await page.goto(control.url, { waitUntil: "commit" });
    const wanted = leaks ? CONTROL_TOKEN : "";
    const arrived = (): boolean => canary.hits.some((hit) => hit.includes(wanted));
    await expect.poll(arrived, { timeout: 10_000 }).toBe(true);
    await context.close();
  }
});
