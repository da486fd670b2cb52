// A hostile session tries with Markdown, LaTeX, terminal text, and names of files and variables to become a part of the page. Each attack
// first succeeds on a page without walls.

import { renderToString } from "katex";
import { marked } from "marked";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import type { Reader } from "../harness/reader.ts";
import { useStage } from "../harness/stage.ts";
import { openCanary, type Canary } from "./canary.ts";
import { openControl, type Control } from "./control.ts";
import { BLOCKED, checkUntouched, showOutput } from "./hostile.ts";

const LATE_MS = 500;
/** How somebody who trusts the text would show it. */
const TRUSTING = {
  markdown: (text: string) => marked.parse(text, { async: false }),
  latex: (text: string) => renderToString(text, { trust: true, throwOnError: false, strict: "ignore" }),
  text: (text: string) => text,
} as const;

/** Where the page renders such text. */
const RENDERED = { markdown: '[class*="markdown"]', latex: '[class*="formula"]', text: undefined } as const;

interface Attack {
  readonly name: string;
  readonly kind: keyof typeof TRUSTING;
  readonly text: string;
  /** The control must press this. Default: it acts by itself. */
  readonly press?: string;
}

function attacks(port: number): readonly Attack[] {
  const url = `http://127.0.0.1:${port}`;
  const get = `fetch('${url}/', { mode: 'no-cors' })`;
  return [
    { name: "a script in Markdown", kind: "markdown", text: `# Title\n\n<script>${get}</script>` },
    { name: "a handler in Markdown", kind: "markdown", text: `Text <img src=x onerror="${get}"> text` },
    { name: "a picture in Markdown", kind: "markdown", text: `![](${url}/picture.png)` },
    { name: "a style in Markdown", kind: "markdown", text: `<p style="background: url(${url}/style)">text</p>` },
    {
      name: "a form in Markdown",
      kind: "markdown",
      text: `<form action="${url}/"><button>Press</button></form>`,
      press: "button",
    },
    { name: "a frame in Markdown", kind: "markdown", text: `<iframe src="${url}/"></iframe>` },
    {
      name: "nested namespaces in Markdown",
      kind: "markdown",
      text: `<svg><style><img src=x onerror="${get}"></style></svg>\n\n<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${get}&gt;">`,
    },
    {
      name: "a script address in Markdown",
      kind: "markdown",
      text: `[press](javascript:${encodeURI(get)})`,
      press: "a",
    },
    {
      name: "a disguised script address in Markdown",
      kind: "markdown",
      text: `<a href="jav&#x09;ascript:${get}">press</a>`,
      press: "a",
    },
    { name: "a picture in LaTeX", kind: "latex", text: String.raw`\includegraphics{${url}/picture.png}` },
    { name: "a style in LaTeX", kind: "latex", text: String.raw`\htmlStyle{background: url(${url}/style)}{x}` },
    {
      name: "a script address in LaTeX",
      kind: "latex",
      text: String.raw`\href{javascript:fetch("${url}/")}{press}`,
      press: "a",
    },
    { name: "HTML in terminal text", kind: "text", text: `<img src=x onerror="${get}"> <script>${get}</script>` },
    { name: "HTML in a colour", kind: "text", text: `\u001B[31m<img src=x onerror="${get}">\u001B[0m` },
  ];
}

describe.skipIf(!hasBrowser)("text of a session", { tags: "stress" }, () => {
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
  test.each(attacks(0).map(({ name }, index) => ({ name, index })))("$name reaches nothing", async ({ index }) => {
    const attack = attacks(canary.port)[index] as Attack;
    const reader = await on.stage.open("#/sessions", { allow: BLOCKED });
    await succeedWithoutWalls(reader, attack.kind, attack.text, attack.press);
    canary.clear();
    await showOutput(on.stage, reader, attack.kind, attack.text);
    const place = RENDERED[attack.kind];
    if (place !== undefined) await reader.page.locator(place).waitFor({ state: "attached" });
    await reader.page.waitForTimeout(LATE_MS);
    expect(await foreignElements(reader)).toEqual([]);
    expect(canary.hits).toEqual([]);
    await checkUntouched(on.stage, reader);
  });

  test("links of Markdown lead to other sites only, in windows that know nothing of this one", async () => {
    const reader = await on.stage.open("#/sessions");
    const { page } = reader;
    const text =
      "[out](https://x.example/a) [mail](mailto:a@x.example) [token](#token=evil) [here](/v1/sessions) [file](file:///etc/passwd) [data](data:text/html,x)";
    await showOutput(on.stage, reader, "markdown", text);
    const links = page.locator('a[target="_blank"]');
    await links.first().waitFor();
    const found = `[...document.querySelectorAll('a[target="_blank"]')].map(({ href, rel }) => [href, rel])`;
    expect(await page.evaluate(found)).toEqual([
      ["https://x.example/a", "noopener noreferrer"],
      ["mailto:a@x.example", "noopener noreferrer"],
    ]);
    expect(await page.getByText("token", { exact: true }).count()).toBe(0);
    await checkUntouched(on.stage, reader);
  });

  test("a name of a variable or a file is text, with what would hide in it", async () => {
    const evil = `<img src=x onerror="fetch('${canary.url}/name')">`;
    const reader = await on.stage.open("#/sessions", { allow: BLOCKED });
    await succeedWithoutWalls(reader, "text", evil);
    canary.clear();
    const { page } = reader;
    const session = await on.stage.runtime.openSession();
    const made = `type("<b>Evil</b>", (), {"__repr__": lambda self: ${JSON.stringify(evil)}})()`;
    const names = `globals()[${JSON.stringify(evil)}] = 1\nglobals()["safe\\u202eexe"] = 2`;
    (await session.execute(`evil = ${made}\n${names}\nevil`)).unwrap();
    await session.files.write("invoice\u202Efdp.exe", "x");
    await session.files.write(`<img src=x onerror=fetch("${canary.url.replaceAll("/", "\\")}")>`, "x");
    await page.evaluate(`location.hash = "#/sessions/${session.id}"`);
    await page.getByText("onerror").first().waitFor();
    for (const tab of ["Variables", "Files"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.waitForTimeout(LATE_MS);
    }
    await page
      .getByText(String.raw`invoice\u202efdp.exe`)
      .first()
      .waitFor();
    expect(await foreignElements(reader)).toEqual([]);
    expect(canary.hits).toEqual([]);
    expect(await page.evaluate(String.raw`/[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)`)).toBe(false);
    await checkUntouched(on.stage, reader);
  });

  test("terminal text sets no title, makes no link, and hides nothing", async () => {
    const reader = await on.stage.open("#/sessions", { allow: BLOCKED });
    const { page } = reader;
    const text =
      "\u001B]0;owned\u0007\u001B]8;;javascript:alert(1)\u0007link\u001B]8;;\u0007 \u001B[8mconcealed\u001B[0m safe\u202Eexe \u001B[2Jend\u0000";
    await showOutput(on.stage, reader, "text", text);
    await page.getByText(String.raw`link concealed safe\u202eexe end\0`).waitFor();
    expect(await page.locator("main a", { hasText: "link" }).count()).toBe(0);
    expect(await page.title()).not.toContain("owned");
    await checkUntouched(on.stage, reader);
  });

  test("a document in a frame cannot grow over the page, nor ask for another one", async () => {
    const reader = await on.stage.open("#/sessions", { allow: BLOCKED });
    const { page } = reader;
    const messages = `for (const m of [{ type: "height", height: 1e9 }, { type: "height", height: "1e9px" }, { type: "height", height: NaN }, { type: "ready" }, null, "x"]) parent.postMessage(m, "*")`;
    await showOutput(
      on.stage,
      reader,
      "html",
      `<p>an output</p><script>${messages}; document.body.dataset.ran = "yes"</script>`,
    );
    await page.getByRole("button", { name: "Run them" }).click();
    await page.frameLocator("iframe").locator('body[data-ran="yes"]').waitFor({ state: "attached" });
    await page.waitForTimeout(LATE_MS);
    const height = await page.evaluate(`document.querySelector("iframe").getBoundingClientRect().height`);
    expect(height).toBeLessThanOrEqual(640);
    await page.frameLocator("iframe").getByText("an output").waitFor();
    await checkUntouched(on.stage, reader);
  });

  async function succeedWithoutWalls(
    reader: Reader,
    kind: Attack["kind"],
    text: string,
    press?: string,
  ): Promise<void> {
    canary.clear();
    control.show(TRUSTING[kind](text));
    const context = await reader.context.browser()?.newContext();
    if (context === undefined) throw new Error("The reader has no browser");
    const page = await context.newPage();
    await page.goto(control.url, { waitUntil: "commit" });
    if (press !== undefined) await page.locator(press).first().click();
    await expect.poll(() => canary.hits.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await context.close();
  }
});

/** What the page itself never has: elements and attributes that could only come from a session. */
async function foreignElements({ page }: Reader): Promise<unknown> {
  return page.evaluate(`[...document.body.querySelectorAll("*")].filter((element) =>
    element.matches("script, object, embed, form[action], base, link, meta, img:not([src^='blob:'], [src^='data:']), iframe:not([src='assets/frame.html'])") ||
    [...element.attributes].some(({ name, value }) => name.startsWith("on") || /^\\s*javascript:/i.test(value))).map(({ outerHTML }) => outerHTML.slice(0, 200))`);
}
