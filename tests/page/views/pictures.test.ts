// The pictures of the documents: `npm run pictures` writes docs/images/page-*.png. Otherwise they are only tried.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { PYTHON } from "../../open.ts";
import { hasBrowser } from "../harness/browser.ts";
import { useStage } from "../harness/stage.ts";
import { COMPARED, DETAILED, writeRunList } from "../recordings/run-list.ts";
import { hasPandas, setScene } from "../scene.ts";
import { RULES } from "../script.ts";

const isWriting = process.env["RLM_PICTURES"] === "1";
const FOLDER = isWriting ? "docs/images" : ".screenshots";
const MAX_BYTES = 150_000;
/** 256 colours are enough for a page, and take a third of the bytes. */
const SHRINK = `
import sys
from PIL import Image
path = sys.argv[1]
Image.open(path).convert("RGB").quantize(256, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)`;

interface Picture {
  readonly name: string;
  readonly address: string;
  readonly theme: "light" | "dark";
  /** A text that is there when it has loaded. */
  readonly ready: string | RegExp;
  readonly before?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: "run", address: `#/runs/${DETAILED}/n0/2`, theme: "light", ready: "Step 2. The entries about" },
  { name: "run-dark", address: `#/runs/${DETAILED}/n0`, theme: "dark", ready: "Aurora: 1,204 lanterns" },
  { name: "runs", address: "#/runs", theme: "light", ready: /Which invoices of the last quarter/ },
  { name: "compare", address: `#/runs?compare=${COMPARED.join(",")}`, theme: "light", ready: "the runs part here" },
  { name: "session", address: "#/sessions/harbour", theme: "light", ready: 'cargo["Estrel"] = 12' },
  { name: "task", address: "#/tasks/t-build", theme: "dark", ready: "of 3" },
  {
    name: "palette",
    address: "#/sessions/harbour",
    theme: "light",
    ready: 'cargo["Estrel"] = 12',
    before: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("option").first().waitFor();
    },
  },
];

describe.skipIf(!hasBrowser || !hasPandas)("the pictures of the documents", { tags: "stress" }, () => {
  const on = useStage({ rules: RULES, prepare: writeRunList });
  beforeAll(async () => {
    await setScene(on.stage.runtime);
    mkdirSync(FOLDER, { recursive: true });
  });

  test.for(PICTURES)("$name", async ({ name, address, theme, ready, before }) => {
    const reader = await on.stage.open(address, { theme, viewport: "picture" });
    const { page } = reader;
    await page.getByText(ready).filter({ visible: true }).first().waitFor();
    await before?.(page);
    await reader.settle();
    const path = join(FOLDER, `page-${name}.png`);
    await page.screenshot({ path, animations: "disabled", caret: "hide" });
    expect(spawnSync(PYTHON, ["-c", SHRINK, path], { encoding: "utf8" }).stderr).toBe("");
    expect(statSync(path).size).toBeLessThan(MAX_BYTES);
    expect(readFileSync(path).readUInt32BE(16)).toBe(1280);
  });
});
