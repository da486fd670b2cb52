// The recorded runs of a server that was used for a while: of every status, some small, one with many nodes, and two to compare.

import { createLargeRun, type LargeRunOptions } from "./large-run.ts";

const HOUR_MS = 3_600_000;

/** Two runs of one question that part at the third step. */
export const COMPARED = ["r-lanterns-monday", "r-lanterns-friday"] as const;
/** The run to look at in detail. */
export const DETAILED = "r-lanterns-friday";

const RUNS: readonly (LargeRunOptions & { readonly hoursAgo: number })[] = [
  { id: COMPARED[0], nodes: 36, bytes: 900_000, seed: 7, hoursAgo: 96 },
  { id: COMPARED[1], nodes: 36, bytes: 900_000, seed: 7, partsAtStep: 3, hoursAgo: 2 },
  {
    id: "r-invoices",
    nodes: 12,
    bytes: 300_000,
    seed: 3,
    hoursAgo: 5,
    query: "Which invoices of the last quarter name a supplier that is not in the register?",
  },
  {
    id: "r-letters",
    nodes: 1,
    bytes: 20_000,
    seed: 4,
    hoursAgo: 26,
    query: "How many letters are about billing, how many about delivery, how many about something else?",
    outcome: {
      status: "partial",
      stopReason: "costUsd",
      answer: "billing: 1,120; delivery: 580; the last 300 letters were not read",
      why: "The limit of costUsd is reached: 2.0004 of 2",
    },
  },
  {
    id: "r-contracts",
    nodes: 3,
    bytes: 60_000,
    seed: 5,
    hoursAgo: 30,
    query: "List every clause about early termination in these contracts, with its page.",
    outcome: {
      status: "failed",
      stopReason: "error",
      answer: null,
      why: "Cannot reach openai: 401: the key was rejected",
    },
  },
  {
    id: "r-weather",
    nodes: 2,
    bytes: 40_000,
    seed: 6,
    hoursAgo: 49,
    query: "In which weeks did the fog last for more than three days?",
    outcome: { status: "cancelled", stopReason: "cancelled", answer: null, why: "The run was cancelled" },
  },
];

export async function writeRunList(dataFolder: string, now = Date.now()): Promise<void> {
  for (const { hoursAgo, ...options } of RUNS)
    await createLargeRun({ ...options, startedAt: now - hoursAgo * HOUR_MS }).write(dataFolder);
}
