// How a reader gets in: the token of the link, and what happens to it.

import { describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { useStage } from "../harness/stage.ts";

const NO_TOKEN = /401 \(Unauthorized\)/;

describe.skipIf(!hasBrowser)("signing in", () => {
  const on = useStage();

  test("the token of the link is taken out of the address at once, and kept for the tab alone", async () => {
    const { page, context } = await on.stage.open("#/runs");
    await page.getByRole("navigation").waitFor();
    expect(new URL(page.url()).hash).toBe("#/runs");
    expect(await page.evaluate("document.cookie + JSON.stringify(localStorage)")).not.toContain(on.stage.token);
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate("Object.values(sessionStorage)")).toContain(on.stage.token);
    await page.reload();
    await page.getByRole("navigation").waitFor();

    // A tab of its own has none, and neither has the history of this one.
    const other = await context.newPage();
    await other.goto(on.stage.url);
    await other.getByLabel("Token", { exact: true }).waitFor();
    await page.goBack();
    expect(page.url()).not.toContain(on.stage.token);
  });

  test("without a token the page asks for it, says where it is, and opens what the address names", async () => {
    const reader = await on.stage.open("#/runs", { token: null, allow: [NO_TOKEN] });
    const { page } = reader;
    await page.getByLabel("Token", { exact: true }).waitFor();
    await page.getByText("server/token").waitFor();
    expect(await reader.violations()).toEqual([]);
    await reader.screenshot("sign-in");
    await page.getByLabel("Token", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").waitFor();
    await reader.screenshot("sign-in-refused");
    await page.getByLabel("Token", { exact: true }).fill(on.stage.token);
    await page.keyboard.press("Enter");
    await page.getByRole("navigation").waitFor();
    expect(new URL(page.url()).hash).toBe("#/runs");
  });

  test("a wrong token in the link is refused, and not kept", async () => {
    const { page } = await on.stage.open("", { token: "wrong", allow: [NO_TOKEN] });
    await page.getByRole("alert").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expect(page.url()).not.toContain("wrong");
  });
});
