// The console of a session in a reader's tab.

import type { Locator, Page } from "playwright-core";
import type { Reader, ReaderOptions } from "./reader.ts";
import type { Stage } from "./stage.ts";

export interface OpenConsole {
  readonly reader: Reader;
  readonly page: Page;
  readonly editor: Locator;
  /** Types the code and runs it. */
  readonly run: (code: string) => Promise<void>;
  /** An execution by its number in the session. */
  readonly cell: (number: number) => Locator;
}

/** Of a session that exists, or is opened first. */
export async function openConsole(stage: Stage, id: string, options: ReaderOptions = {}): Promise<OpenConsole> {
  const { items } = await stage.runtime.sessions.list();
  if (!items.some((session) => session.id === id)) await stage.runtime.openSession({ id });
  const reader = await stage.open(`#/sessions/${id}`, options);
  const { page } = reader;
  const editor = page.getByRole("textbox", { name: "Code to run" });
  await page.locator(".cm-content").waitFor();
  return {
    reader,
    page,
    editor,
    run: async (code) => {
      await editor.fill(code);
      await editor.press("Shift+Enter");
    },
    cell: (number) => page.getByRole("article", { name: `Execution ${number}`, exact: true }),
  };
}
