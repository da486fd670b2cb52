// A phone: one thing at a time, and what a tap opens can be closed again.

import { beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { PATIENCE_MS, type Reader } from "../harness/reader.ts";
import { useStage } from "../harness/stage.ts";
import { createLargeRun } from "../recordings/large-run.ts";
import { COMPARED, DETAILED, writeRunList } from "../recordings/run-list.ts";

const SOON = { timeout: PATIENCE_MS };
const PHONE = { viewport: "phone" } as const;
const LONG_RUN = {
  id: "r-long",
  nodes: 4,
  bytes: 60_000,
  query: Array.from({ length: 12 }, (_, n) => `How many lanterns came in year ${n}?`).join(" "),
  outcome: {
    status: "final",
    stopReason: "answered",
    answer: Array.from({ length: 12 }, (_, n) => `Year ${n}: ${n * 17} lanterns.`).join("\n\n"),
    why: "",
  },
} as const;
const LONG_LINE = `total = ${Array.from({ length: 12 }, (_, n) => `cargo[${n}]`).join(" + ")}`;

describe.skipIf(!hasBrowser)("on a phone", { tags: "stress" }, () => {
  const on = useStage({
    prepare: async (dataFolder) => {
      await writeRunList(dataFolder);
      await createLargeRun(LONG_RUN).write(dataFolder);
    },
  });
  beforeAll(async () => {
    const session = await on.stage.runtime.openSession({ id: "narrow" });
    await session.execute(`cargo = [1] * 12\n${LONG_LINE}\ntotal`);
  });

  test("rows of a run are seen at once, and a tap opens the transcript over them", async () => {
    const reader = await on.stage.open(`#/runs/${DETAILED}`, PHONE);
    const { page } = reader;
    const row = page.getByRole("row", { name: /step 2/ }).first();
    await row.waitFor();
    await reader.settle();
    expect(await seenRows(reader)).toBeGreaterThanOrEqual(10);
    const transcript = page.getByRole("region", { name: "Transcript" });
    expect(await transcript.isVisible()).toBe(false);
    await row.tap();
    await transcript.getByRole("heading", { name: "step 2" }).waitFor();
    await reader.settle();
    expect(await reader.violations()).toEqual([]);
    await reader.screenshot("phone-run-sheet");
    const back = page.getByRole("button", { name: "Back to the table" });
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Back to the table");
    await back.tap();
    await row.waitFor();
    expect(await transcript.isVisible()).toBe(false);
  });

  test("Back in the browser closes the transcript, and stays with the run", async () => {
    const { page } = await on.stage.open("#/runs", PHONE);
    await page.getByRole("link", { name: LONG_RUN.query.slice(0, 40) }).tap();
    const row = page.getByRole("row", { name: /step 1/ }).first();
    const transcript = page.getByRole("region", { name: "Transcript" });
    const address = (): string => new URL(page.url()).hash;
    for (const _ of ["once", "and again"]) {
      await row.tap();
      await transcript.getByRole("heading", { name: "step 1" }).waitFor();
      await expect.poll(address, SOON).toBe("#/runs/r-long/n0/1");
      await page.goBack();
      await transcript.waitFor({ state: "hidden" });
      expect(address()).toBe("#/runs/r-long");
      await page.goForward();
      await transcript.waitFor();
      await page.getByRole("button", { name: "Back to the table" }).tap();
      await expect.poll(address, SOON).toBe("#/runs/r-long");
      expect(await transcript.isVisible()).toBe(false);
    }
    await page.goBack();
    await expect.poll(address, SOON).toBe("#/runs");
  });

  test("a command to copy is one line that scrolls", async () => {
    const reader = await on.stage.open("", { ...PHONE, token: null, allow: [/401 \(Unauthorized\)/] });
    const command = reader.page.getByText("cat ~/");
    await command.waitFor();
    await reader.screenshot("phone-sign-in");
    const height = (await command.boundingBox())?.height ?? 0;
    expect(height).toBeLessThanOrEqual((await reader.page.getByText("visualize").last().boundingBox())?.height ?? 0);
    await reader.page.setViewportSize({ width: 280, height: 844 });
    expect(await reader.page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    expect((await command.boundingBox())?.height).toBe(height);
    expect(await reader.violations()).toEqual([]);
  });

  test("a long question and a long answer are cut to a few lines, and shown whole on demand", async () => {
    const reader = await on.stage.open("#/runs/r-long", PHONE);
    const { page } = reader;
    const question = page.getByRole("heading", { level: 1 });
    const more = page.getByRole("button", { name: "More", exact: true });
    await expect.poll(() => more.count(), SOON).toBe(2);
    await reader.settle();
    await reader.screenshot("phone-run-long");
    expect(await reader.violations()).toEqual([]);
    expect(await seenRows(reader)).toBeGreaterThanOrEqual(8);
    const tabs = page.getByRole("tablist", { name: "Views of the run" });
    const before = (await tabs.boundingBox())?.y ?? 0;
    await more.first().tap();
    await page.getByRole("button", { name: "Less" }).waitFor();
    expect((await tabs.boundingBox())?.y).toBeGreaterThan(before + 60);
    expect(await question.innerText()).toBe(LONG_RUN.query);
    await page.getByRole("button", { name: "Less" }).tap();
    await expect.poll(async () => (await tabs.boundingBox())?.y, SOON).toBe(before);
  });

  test("the limits of a run are shown on demand", async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}`, PHONE);
    const limits = page.getByRole("button", { name: "Limits" });
    await limits.waitFor();
    expect(await page.getByRole("list", { name: "Limits" }).isVisible()).toBe(false);
    await limits.tap();
    await page.getByRole("list", { name: "Limits" }).waitFor();
  });

  test("a link to a step opens its transcript, and there is a way back to the table", async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}/n1/1`, PHONE);
    const transcript = page.getByRole("region", { name: "Transcript" });
    await transcript.getByRole("heading", { name: "step 1" }).waitFor();
    await page.getByRole("button", { name: "Back to the table" }).tap();
    await page.getByRole("row", { selected: true, name: /step 1/ }).waitFor();
    expect(await transcript.isVisible()).toBe(false);
  });

  test("what a search in a run finds is listed above the table", async () => {
    const { page } = await on.stage.open(`#/runs/${DETAILED}`, PHONE);
    await page.getByRole("searchbox", { name: "Search in the run" }).fill("could not be parsed");
    await page.getByRole("region", { name: "Search results" }).getByRole("button").first().tap();
    await page.getByRole("region", { name: "Transcript" }).getByText("could not be parsed").first().waitFor();
  });

  test("two runs are compared without anything cut off, and read one at a time", async () => {
    const reader = await on.stage.open(`#/runs?compare=${COMPARED.join(",")}`, PHONE);
    const { page } = reader;
    await page.getByText("they part").waitFor();
    await page.getByText("inside differs", { exact: true }).filter({ visible: true }).first().waitFor();
    const table = await page.getByRole("table").boundingBox();
    expect((table?.x ?? 0) + (table?.width ?? 1_000)).toBeLessThanOrEqual(390);
    await page.getByRole("row", { selected: true }).tap();
    await page.getByRole("region", { name: "Left run" }).waitFor();
    expect(await page.getByRole("region", { name: "Right run" }).count()).toBe(0);
    await reader.settle();
    expect(await reader.violations()).toEqual([]);
    await reader.screenshot("phone-compare-sheet");
    await page.getByRole("tab", { name: "Right" }).tap();
    await page.getByRole("region", { name: "Right run" }).waitFor();
    expect(await page.getByRole("region", { name: "Left run" }).count()).toBe(0);
    await page.getByRole("button", { name: "Back to the rows" }).tap();
    await expect.poll(() => page.getByRole("region", { name: "Right run" }).count(), SOON).toBe(0);
  });

  test("a session is listed with its state, environment, memory and idle time", async () => {
    const reader = await on.stage.open("#/sessions", PHONE);
    const item = reader.page.getByRole("link", { name: /narrow/ });
    await expect.poll(() => item.innerText(), SOON).toMatch(/^narrow\s+idle\s+local\S* .*\d MB\s+(now|\d+ \w+ ago)$/s);
    await reader.settle();
    await reader.screenshot("phone-sessions");
    expect(await reader.violations()).toEqual([]);
    const list = reader.page.getByRole("list", { name: "List of sessions" });
    const size = list.evaluate(({ scrollWidth, clientWidth }: Widths) => scrollWidth - clientWidth);
    expect(await size).toBe(0);
    await item.tap();
    await reader.page.getByText("cargo[11]").waitFor();
  });

  test("a notice leaves the editor free", async () => {
    const reader = await on.stage.open("#/sessions/narrow", PHONE);
    const { page } = reader;
    await page.getByRole("button", { name: "More actions" }).tap();
    await page.getByRole("menuitem", { name: "Checkpoint" }).tap();
    const notice = page.getByText("Checkpoint taken");
    await notice.waitFor();
    await reader.screenshot("phone-notice");
    const bottom = await notice.evaluate((element: Boxed) => element.getBoundingClientRect().bottom);
    const editor = await page.locator(".cm-content").evaluate((element: Boxed) => element.getBoundingClientRect().top);
    expect(bottom).toBeLessThan(editor);
  });

  test("code in the console has the whole width, but for the facts beside its first line", async () => {
    const reader = await on.stage.open("#/sessions/narrow", PHONE);
    const cell = reader.page.getByRole("article", { name: /^Execution/ }).first();
    await cell.getByText("cargo[11]").waitFor();
    await reader.settle();
    await reader.screenshot("phone-console");
    const code = await cell.locator("pre").first().boundingBox();
    const menu = await cell.getByRole("button").first().boundingBox();
    expect((code?.x ?? 0) + (code?.width ?? 0)).toBeGreaterThanOrEqual((menu?.x ?? 0) + (menu?.width ?? 0) - 1);
  });
});

interface Boxed {
  getBoundingClientRect(): { readonly top: number; readonly bottom: number };
}

interface Widths {
  readonly scrollWidth: number;
  readonly clientWidth: number;
}

/** How many rows of the table are in the window. */
async function seenRows({ page }: Reader): Promise<number> {
  const rows = await page.getByRole("treegrid").getByRole("row").all();
  const boxes = await Promise.all(rows.map((row) => row.boundingBox()));
  const bottom = (await page.getByRole("navigation").last().boundingBox())?.y ?? 0;
  return boxes.filter((box) => box !== null && box.y + box.height <= bottom).length;
}
