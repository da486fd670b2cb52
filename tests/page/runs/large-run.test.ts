// A run of 2,000 nodes whose trajectory takes 100 MB: how soon it opens, and whether the page stays responsive.
//
// The bounds are those of a machine that has nothing else to do, times a factor, since the tests run beside others. What was measured is
// printed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { now, tasksDuring, type MainThreadTask } from "../harness/measures.ts";
import { PATIENCE_MS } from "../harness/reader.ts";
import { useStage } from "../harness/stage.ts";
import { createLargeRun } from "../recordings/large-run.ts";

const ID = "r-large";
const NODES = 2_000;
const MB = 1_000_000;
const OPEN_MS = 2_000;
const LONG_TASK_MS = 50;
/** Opening involves the server, and is measured by the clock: a busy machine shares its time with twenty processes. */
const BUSY = 5;
const TURNS = 60;
const SOON = { timeout: PATIENCE_MS };

async function record(dataFolder: string): Promise<void> {
  await createLargeRun({ id: ID, nodes: NODES, bytes: 100 * MB }).write(dataFolder);
  const meta = JSON.parse(readFileSync(join(dataFolder, "runs", ID, "meta.json"), "utf8")) as { bytes: number };
  expect(meta.bytes).toBeGreaterThan(100 * MB);
}

describe.skipIf(!hasBrowser)("a run of 2,000 nodes and 100 MB", { tags: "stress" }, () => {
  const on = useStage({ prepare: record });

  test("opens in less than two seconds", async () => {
    const times: number[] = [];
    for (let count = 0; count < 3; count += 1) times.push(Math.round(await open(on.stage.url)));
    process.stdout.write(`A run of 2,000 nodes opened in ${times.join(", ")} ms: the first time without an index\n`);
    expect(Math.min(...times)).toBeLessThan(OPEN_MS);
    expect(Math.max(...times)).toBeLessThan(OPEN_MS * BUSY);
  });

  test("scrolls without a long task", async () => {
    const { page } = await on.stage.open(`#/runs/${ID}`);
    await firstRow(page).waitFor();
    await page.keyboard.press("L"); // unfolds everything
    await expect.poll(() => rowCount(page), SOON).toBeGreaterThan(10 * NODES);
    await idle(page);
    const grid = page.getByRole("treegrid");
    // What is not reported could not fail.
    const busy = await tasksDuring(page, () => page.evaluate(BUSY_TASK));
    expect(longest(busy)).toBeGreaterThan(LONG_TASK_MS);
    const tasks = {
      rows: await tasksDuring(page, async () => {
        await scroll(page, grid);
        const isFar = grid.evaluate(({ scrollTop }: { readonly scrollTop: number }) => scrollTop > 10_000);
        expect(await isFar).toBe(true);
      }),
      transcript: await tasksDuring(page, async () => scroll(page, page.getByRole("region", { name: "Transcript" }))),
      steps: await tasksDuring(page, async () => {
        await grid.focus();
        for (let count = 0; count < TURNS; count += 1) await page.keyboard.press("j");
        await expect.poll(() => new URL(page.url()).hash, SOON).toMatch(/^#\/runs\/r-large\/n\d+\/\d+/);
      }),
    };
    for (const [what, found] of Object.entries(tasks)) process.stdout.write(`${what}: ${report(found)}\n`);
    expect(longest(Object.values(tasks).flat())).toBeLessThan(LONG_TASK_MS);
  });

  async function open(url: string): Promise<number> {
    const reader = await on.stage.open(`#/runs/${ID}`);
    await firstRow(reader.page).waitFor();
    const time = await now(reader.page);
    expect(reader.page.url()).toContain(url);
    expect(await on.stage.clear()).toEqual([]);
    return time;
  }
});

async function rowCount(page: Page): Promise<number> {
  return Number(await page.getByRole("treegrid").getAttribute("aria-rowcount"));
}

function firstRow(page: Page) {
  return page.getByRole("treegrid").getByRole("row", { name: /node n0/ });
}

/** Whatever was loaded has been shown. */
async function idle(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => requestIdleCallback(resolve, { timeout: ${PATIENCE_MS} }))`);
}

/** With the wheel, a turn for each frame. */
async function scroll(page: Page, where: ReturnType<Page["locator"]>): Promise<void> {
  const box = await where.boundingBox();
  if (box === null) throw new Error("There is nothing to scroll");
  await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
  for (let turn = 0; turn < TURNS; turn += 1) {
    await page.mouse.wheel(0, turn < TURNS / 2 ? 900 : 120);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
  }
}

/** Of processor time: what other processes take is not the fault of the page. */
function longest(tasks: readonly MainThreadTask[]): number {
  return Math.max(0, ...tasks.map(({ cpuMs }) => cpuMs));
}

function report(tasks: readonly MainThreadTask[]): string {
  const long = tasks.filter(({ wallMs }) => wallMs >= LONG_TASK_MS);
  const wall = Math.max(0, ...tasks.map(({ wallMs }) => wallMs));
  return `the longest of ${tasks.length} tasks ran for ${longest(tasks).toFixed(1)} ms; by the clock ${wall.toFixed(1)} ms, ${long.length} over ${LONG_TASK_MS} ms`;
}

const BUSY_TASK = `new Promise((resolve) => {
  setTimeout(() => {
    let sum = 0;
    for (let count = 0; count < 4e8; count += 1) sum += count % 7;
    resolve(sum);
  });
})`;
