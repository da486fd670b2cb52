// One reader: a tab of a browser profile of its own. Everything that the page complains about is kept, so that a test can fail because of it.

import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContext, ConsoleMessage, Page, Request } from "playwright-core";
import { OBSERVE } from "./measures.ts";

/** Screenshots of the test run. Not part of the repository. */
const SCREENSHOTS = ".screenshots";
/** Only a failure takes this long, also on a busy machine. */
export const PATIENCE_MS = 60_000;
const VIEWPORTS = {
  desktop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
  /** Of documents. */
  picture: { width: 1280, height: 800 },
} as const;

export interface ReaderOptions {
  /** Default: light. */
  readonly theme?: "light" | "dark";
  /** Default: desktop. */
  readonly viewport?: keyof typeof VIEWPORTS;
  /** Null: the link has none. Default: the right one. */
  readonly token?: string | null;
  /** Without any network. Default: false. */
  readonly isOffline?: boolean;
  /** Complaints that this test provokes. */
  readonly allow?: readonly RegExp[];
}

/** An accessibility problem that axe-core found. */
export interface Violation {
  readonly rule: string;
  readonly impact: string;
  /** Where, as selectors with their HTML. */
  readonly nodes: readonly string[];
}

export class Reader {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, on the console and of requests, violations of the content security policy included. */
  readonly problems: string[] = [];
  readonly #suffix: string;
  readonly #allow: readonly RegExp[];

  constructor(context: BrowserContext, page: Page, suffix: string, allow: readonly RegExp[]) {
    this.context = context;
    this.page = page;
    this.#suffix = suffix;
    this.#allow = allow;
    this.watch(page);
  }

  /** Another tab of the same profile may be watched as well. */
  watch(page: Page): void {
    page.on("console", (message) => this.#note(toComplaint(message)));
    // Errors of the browser itself have an empty stack.
    page.on("pageerror", ({ name, message, stack }) => this.#note(`error: ${stack || `${name}: ${message}`}`));
    page.on("requestfailed", (request) => this.#note(toFailure(request)));
  }

  /** For a screenshot: waits until the text of the page stays as it is. Clocks on the page go on, so there is a limit. */
  async settle(): Promise<void> {
    await this.page.evaluate("document.fonts.ready.then(() => undefined)");
    for (let before = "", count = 0; count < MAX_PAUSES; count += 1) {
      const now = await this.page.evaluate<string>(SETTLED);
      if (now === before) return;
      before = now;
    }
  }

  /** Saves what is seen in `.screenshots/`, as NAME-THEME-VIEWPORT.png. Returns the path. */
  async screenshot(name: string): Promise<string> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const path = join(SCREENSHOTS, `${name.replaceAll(/[^\w.-]+/g, "-").slice(0, 80)}-${this.#suffix}.png`);
    await this.page.screenshot({ path, animations: "disabled", caret: "hide", timeout: PATIENCE_MS });
    return path;
  }

  /** What axe-core finds serious or critical. Frames are left out: they show what users have made. */
  async violations(): Promise<readonly Violation[]> {
    await this.page.evaluate(AXE);
    const found = await this.page.evaluate<readonly AxeResult[]>(
      `axe.run(document, { iframes: false, resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({
        id, impact, nodes: nodes.map(({ target, html, any }) => ({ target: target.join(" "), html, why: any.map(({ message }) => message).join("; ") })) })))`,
    );
    return found
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, impact, nodes }) => ({
        rule: id,
        impact,
        nodes: nodes.map(({ target, html, why }) => `${target}: ${html.slice(0, 200)}: ${why.slice(0, 200)}`),
      }));
  }

  async close(): Promise<void> {
    await this.context.close();
  }

  #note(problem: string | undefined): void {
    if (problem === undefined || this.#allow.some((pattern) => pattern.test(problem))) return;
    this.problems.push(problem);
  }
}

export async function openReader(browser: Browser, url: string, options: ReaderOptions): Promise<Reader> {
  const { theme = "light", viewport = "desktop", allow = [], isOffline = false } = options;
  const context = await browser.newContext({
    viewport: VIEWPORTS[viewport],
    colorScheme: theme,
    hasTouch: viewport === "phone",
    isMobile: viewport === "phone",
    offline: isOffline,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(OBSERVE);
  const page = await context.newPage();
  const reader = new Reader(context, page, `${theme}-${viewport}`, allow);
  await page.goto(url);
  return reader;
}

/** What is on the page after a pause, in which requests of a local server are answered. */
const SETTLED = "new Promise((resolve) => setTimeout(() => resolve(document.body.innerText), 300))";

interface AxeResult {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: string; readonly html: string; readonly why: string }[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

function toComplaint(message: ConsoleMessage): string | undefined {
  if (message.type() !== "error" && message.type() !== "warning") return undefined;
  return `console: ${message.text()} (${message.location().url})`;
}

/** A request that the page gave up is no failure: streams end so. */
function toFailure(request: Request): string | undefined {
  const why = request.failure()?.errorText ?? "failed";
  return why === "net::ERR_ABORTED" ? undefined : `request: ${request.method()} ${request.url()}: ${why}`;
}

const MAX_PAUSES = 10;
