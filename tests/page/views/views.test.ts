// Every view in both themes on a desktop and a phone: a screenshot each, no serious accessibility problem, and nothing wider than the screen.

import { beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { useStage } from "../harness/stage.ts";
import { COMPARED, DETAILED, writeRunList } from "../recordings/run-list.ts";
import { setScene } from "../scene.ts";
import { RULES } from "../script.ts";

interface View {
  readonly name: string;
  readonly address: string;
  /** A text that is there when it has loaded. */
  readonly ready: string | RegExp;
}

const VIEWS: readonly View[] = [
  { name: "sessions", address: "#/sessions", ready: "harbour-what-if" },
  { name: "session", address: "#/sessions/harbour", ready: "the Corvus has only" },
  { name: "tasks", address: "#/tasks", ready: "no such target" },
  { name: "task", address: "#/tasks/t-build", ready: "of 3" },
  { name: "task-running", address: "#/tasks/t-listening", ready: "listening" },
  { name: "runs", address: "#/runs", ready: /Which invoices of the last quarter/ },
  { name: "run", address: `#/runs/${DETAILED}`, ready: /Aurora: 1,204 lanterns/ },
  { name: "run-node", address: `#/runs/${DETAILED}/n1`, ready: /Read the pages from day/ },
  { name: "run-step", address: `#/runs/${DETAILED}/n0/2`, ready: /Step 2\. The entries about/ },
  { name: "run-failed", address: "#/runs/r-contracts", ready: /the key was rejected/ },
  { name: "compare", address: `#/runs?compare=${COMPARED.join(",")}`, ready: /Which ships carried lanterns/ },
];
const MATRIX = VIEWS.flatMap((view) =>
  (["light", "dark"] as const).flatMap((theme) =>
    (["desktop", "phone"] as const).map((viewport) => ({ ...view, theme, viewport })),
  ),
);

describe.skipIf(!hasBrowser)("every view", { tags: "stress" }, () => {
  const on = useStage({ rules: RULES, prepare: writeRunList });
  beforeAll(async () => {
    await setScene(on.stage.runtime);
  });

  test.for(MATRIX)("$name, $theme, $viewport", async ({ name, address, ready, theme, viewport }) => {
    const reader = await on.stage.open(address, { theme, viewport });
    await reader.page.getByText(ready).filter({ visible: true }).first().waitFor();
    await reader.settle();
    await reader.screenshot(name);
    expect(await reader.violations()).toEqual([]);
    expect(await reader.page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  });
});
