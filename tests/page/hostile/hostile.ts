// What tests of hostile output share: an output in the real page, and what must be untouched afterwards.

import { expect } from "vitest";
import type { Reader } from "../harness/reader.ts";
import type { Stage } from "../harness/stage.ts";

/** What a browser says when it stops an attack. */
export const BLOCKED: readonly RegExp[] = [
  /Content Security Policy/,
  /sandbox/i,
  /Blocked autofocusing/,
  /ERR_BLOCKED_BY_(?:CSP|CLIENT|RESPONSE)/,
  /Unsafe attempt to initiate navigation/,
  /Refused to /,
  /Failed to load resource/,
  /error: (?:SecurityError|ReferenceError|TypeError)/,
  /: csp$/,
  /^error: $/, // an import that failed
];

const METHODS = { html: "_repr_html_", svg: "_repr_svg_", markdown: "_repr_markdown_", latex: "_repr_latex_" } as const;

/** Shows the output in a session of its own, in the tab that is open. */
export async function showOutput(
  stage: Stage,
  { page }: Reader,
  kind: keyof typeof METHODS | "text",
  content: string,
): Promise<void> {
  const session = await stage.runtime.openSession();
  const text = `bytes.fromhex("${Buffer.from(content).toString("hex")}").decode()`;
  const code =
    kind === "text" ? `print(${text})` : `class Output:\n    def ${METHODS[kind]}(self): return ${text}\nOutput()`;
  (await session.execute(code)).unwrap();
  await page.bringToFront();
  await page.evaluate(`location.hash = "#/sessions/${session.id}"`);
  await page.getByText("Output()").first().or(page.getByText("print(bytes")).first().waitFor();
}

/** The page is where it was, alone, with its token where it belongs and nowhere else. */
export async function checkUntouched(stage: Stage, { page, context }: Reader): Promise<void> {
  expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/sessions\/[\w-]+$/);
  expect(page.url().startsWith(`${stage.url}/`)).toBe(true);
  expect(context.pages()).toHaveLength(1);
  const kept = await page.evaluate<Record<string, string>>(`({
    token: sessionStorage["rlm-token"], cookie: document.cookie, local: JSON.stringify(localStorage), referrer: document.referrer,
    state: JSON.stringify(history.state), name, title: document.title })`);
  expect(kept["token"]).toBe(stage.token);
  const { token: _, ...elsewhere } = kept;
  expect(JSON.stringify(elsewhere)).not.toContain(stage.token);
  expect(await context.cookies()).toEqual([]);
  expect(stage.serving.program.text("stderr") + stage.serving.program.text("stdout")).not.toContain(stage.token);
}
