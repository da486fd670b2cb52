// The memory that this process really uses. Garbage does not count: how much of it waits to be collected depends on how busy the machine is.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const MIB = 2 ** 20;
const SAMPLE_MS = 50;
/** Garbage that is worth collecting before a sample. So much may be missing in a result. */
const SLACK_MIB = 32;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Objects and buffers that something refers to, in MiB. */
export function liveMiB(): number {
  collectGarbage();
  collectGarbage(); // buffers that the first one found are freed beside it, and the second one waits for that
  return usedMiB();
}

/** The most that live memory grew by until the work was done, in MiB. */
export async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = liveMiB();
  let most = before;
  const look = (): void => {
    if (usedMiB() > most + SLACK_MIB) most = Math.max(most, liveMiB());
  };
  const timer = setInterval(look, SAMPLE_MS);
  try {
    await work();
    look();
  } finally {
    clearInterval(timer);
  }
  return most - before;
}

function usedMiB(): number {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MIB;
}
