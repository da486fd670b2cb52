// What `rlm bench` measures: each measure with its floor, and what is usual.

import { spawn } from "node:child_process";
import type { ExecutionResult } from "../../protocol/execution.ts";
import type { Runtime } from "../../runtime.ts";
import type { Session } from "../../session/session.ts";
import type { PlainPython } from "./plain-python.ts";
import { timed, type Contest } from "./sampling.ts";

export interface Machine {
  /** Keeps sandboxes ready. */
  readonly pooled: Runtime;
  readonly unpooled: Runtime;
  readonly plain: PlainPython;
  /** The interpreter of the sessions. */
  readonly executable: string;
}

export interface Measure {
  readonly name: string;
  /** The most that is usual: in milliseconds, or as a multiple of the floor. */
  readonly usual: { readonly ms: number } | { readonly ratio: number };
  /** Bytes of one sample: shown as a rate. Absent: shown as a time. */
  readonly bytes?: number;
  /** What the environment must be able to do. */
  readonly needs?: "fork" | "checkpoint" | "shell";
  /** The contest, with a session that is closed afterwards. */
  readonly prepare: (machine: Machine, session: Session) => Contest;
}

const OUTPUT_BYTES = 64_000_000;
const BLOCK = 64_000;

/** The bounds of what is usual are about three times what an idle machine takes, since ratios vary between machines. */
export const MEASURES: readonly Measure[] = [
  {
    name: "open a session, pooled",
    usual: { ratio: 0.4 },
    prepare: ({ pooled, executable }) => ({
      ours: async () => {
        await pooled.warm();
        return openAndExecute(pooled);
      },
      floor: () => timed(() => run(executable, ["-I", "-S", "-c", "pass"])),
    }),
  },
  {
    name: "open a session, new",
    usual: { ratio: 6 },
    prepare: ({ unpooled, executable }) => ({
      ours: () => openAndExecute(unpooled),
      floor: () => timed(() => run(executable, ["-I", "-S", "-c", "pass"])),
    }),
  },
  {
    name: "execute x = 1",
    usual: { ratio: 8 },
    prepare: ({ plain }, session) => ({
      ours: () => timed(() => execute(session, "x = 1")),
      floor: () => timed(() => plain.echo()),
      perRound: 200,
    }),
  },
  {
    name: "print 64 MB",
    usual: { ratio: 3 },
    bytes: OUTPUT_BYTES,
    prepare: ({ plain }, session) => {
      const code = `import sys\nfor _ in range(${OUTPUT_BYTES / BLOCK}): sys.stdout.write("x" * ${BLOCK})`;
      return {
        ours: () => timed(() => execute(session, code)),
        floor: () => timed(() => plain.write(OUTPUT_BYTES)),
        perRound: 1,
      };
    },
  },
  {
    name: "first output",
    usual: { ms: 25 },
    prepare: (_, session) => ({
      ours: async () => {
        const began = performance.now();
        const { stop } = await startPrinting(session, "import time\nprint('a')\ntime.sleep(600)");
        const tookMs = performance.now() - began;
        await stop();
        return tookMs;
      },
    }),
  },
  {
    name: "fork a session",
    usual: { ratio: 40 },
    needs: "fork",
    prepare: ({ plain }, session) => ({
      ours: async () => {
        const began = performance.now();
        await using fork = await session.fork();
        await execute(fork, "x = 1");
        return performance.now() - began;
      },
      floor: () => plain.forkMs(),
    }),
  },
  {
    name: "take a checkpoint",
    usual: { ratio: 30 },
    needs: "checkpoint",
    prepare: ({ plain }, session) => ({
      ours: async () => {
        const began = performance.now();
        const checkpoint = await session.checkpoint();
        const tookMs = performance.now() - began;
        session.dropCheckpoint(checkpoint);
        return tookMs;
      },
      floor: () => plain.forkMs(),
    }),
  },
  {
    name: "interrupt a loop",
    usual: { ms: 15 },
    prepare: ({ plain }, session) => ({
      ours: async () => {
        const { stop } = await startPrinting(session, "print('a', flush=True)\nwhile True: pass");
        return timed(stop);
      },
      floor: async () => timed(await plain.loop()),
    }),
  },
  {
    name: "shell command",
    usual: { ratio: 6 },
    needs: "shell",
    prepare: ({ unpooled }, session) => ({
      ours: () =>
        timed(async () => {
          const { status } = await unpooled.shell("true", { session }).result;
          if (status !== "completed") throw new Error(`the command ended with ${status}`);
        }),
      floor: () => timed(() => run("/bin/sh", ["-c", "true"])),
    }),
  },
];

async function openAndExecute(runtime: Runtime): Promise<number> {
  const began = performance.now();
  await using session = await runtime.openSession();
  await execute(session, "1 + 1");
  return performance.now() - began;
}

async function execute(session: Session, code: string): Promise<void> {
  checkStatus(await session.execute(code, { timeoutMs: null }).result, "ok");
}

/** Resolves when the code has printed something. `stop` interrupts it and waits for its end. */
async function startPrinting(session: Session, code: string): Promise<{ readonly stop: () => Promise<void> }> {
  const execution = session.execute(code, { timeoutMs: null });
  for await (const event of execution) if (event.type === "output-delta") break;
  return {
    stop: async () => {
      session.interrupt();
      checkStatus(await execution.result, "interrupted");
    },
  };
}

function checkStatus({ status, error }: ExecutionResult, expected: ExecutionResult["status"]): void {
  if (status !== expected)
    throw new Error(`the code ended with ${status}${error ? `: ${error.name}: ${error.value}` : ""}`);
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "ignore" });
    child.once("error", reject).once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with exit code ${code}`));
    });
  });
}
