// The tier of the sandbox in which the tests run. What it does not stop, or does differently, is declared where it is tested.

import type { TestContext } from "vitest";
import { openTestRuntime } from "./open.ts";

/** Empty where no session can be opened: then tests say why. */
export const TIER: string = await findTier().catch(() => "");
/** Whether sessions have a root, processes and users of their own, as in every tier but C. */
const hasNamespaces = TIER !== "C";

/** Whether sessions have the user of the host, and nothing but filters between them and what else this user has. */
export const SHARES_USER: boolean = !hasNamespaces && process.getuid?.() !== 0;

/** Skips a test of what tier C does not do for ordinary users, with the reason. */
export function skipForSharedUser(context: TestContext, why: string): void {
  context.skip(SHARES_USER, `tier C, as an ordinary user: ${why}`);
}

/** Skips a test of what tier C does not do, with the reason. */
export function skipInTierC(context: TestContext, why: string): void {
  context.skip(!hasNamespaces, `tier C: ${why}`);
}

/** Skips a test of what tier B does not do, with the reason. */
export function skipInTierB(context: TestContext, why: string): void {
  context.skip(TIER === "B", `tier B: ${why}`);
}

async function findTier(): Promise<string> {
  await using runtime = await openTestRuntime({ poolSize: 0 });
  await using _ = await runtime.openSession();
  return runtime.report().tier ?? "";
}
