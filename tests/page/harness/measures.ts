// What a browser measures of a page: paints, tasks of its main thread and transfer sizes.

import type { Page } from "playwright-core";

/** A task of the main thread of the page. On a busy machine it takes longer than it runs. */
export interface MainThreadTask {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Runs before any script of the page. */
export const OBSERVE = `
globalThis.measured = {};
measured.firstPaint = new Promise((resolve) => {
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
  }).observe({ type: "paint", buffered: true });
});
`;

/** All tasks of the main thread, as Chromium traces them, the longest first. */
export async function tasksDuring(page: Page, work: () => Promise<void>): Promise<readonly MainThreadTask[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("The page has no browser");
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"] });
  await work();
  // A task is in the trace when it has ended.
  await page.evaluate("new Promise((resolve) => setTimeout(resolve))");
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const isMain = ({ name, args }: TraceEvent): boolean => name === "thread_name" && args["name"] === "CrRendererMain";
  const threads = new Set(traceEvents.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  return traceEvents
    .filter(({ name, pid, tid }) => name === "ThreadControllerImpl::RunTask" && threads.has(`${pid} ${tid}`))
    .map(({ dur = 0, tdur = 0 }) => ({ wallMs: dur / 1_000, cpuMs: tdur / 1_000 }))
    .toSorted((a, b) => b.cpuMs - a.cpuMs);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args: Readonly<Record<string, unknown>>;
  /** Microseconds: by the clock, and of processor time. */
  readonly dur?: number;
  readonly tdur?: number;
}

export interface Transfer {
  readonly name: string;
  readonly bytes: number;
  readonly startTime: number;
}

/** Milliseconds since the navigation began. */
export async function firstContentfulPaint(page: Page): Promise<number> {
  return page.evaluate("measured.firstPaint");
}

/** Milliseconds since the navigation began. */
export async function now(page: Page): Promise<number> {
  return page.evaluate("performance.now()");
}

/** What was received for the page and its files, compressed and with headers, in order. The answers of `/v1` are not in it. */
export async function transfers(page: Page): Promise<readonly Transfer[]> {
  const all = await page.evaluate<readonly Transfer[]>(`
    [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(({ name, transferSize, startTime }) => ({
      name: new URL(name).pathname, bytes: transferSize, startTime }))`);
  return all.filter(({ name }) => !name.startsWith("/v1/"));
}

export function sum(sizes: readonly { readonly bytes: number }[]): number {
  return sizes.reduce((total, { bytes }) => total + bytes, 0);
}
