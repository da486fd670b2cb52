import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

// Tests that start processes. They come after the others.
const system = [
  "tests/{cli,client,contracts,e2e,environments,hostile,kernel,rlm,sdk,server,session,tasks,worker}/**/*.test.ts",
  "tests/{docs,runtime}.test.ts",
];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^rlm-runtime$/, replacement: fileURLToPath(new URL("src/index.ts", import.meta.url)) },
      {
        find: /^rlm-runtime\/(client|protocol|testing)$/,
        replacement: fileURLToPath(new URL("src/$1/index.ts", import.meta.url)),
      },
    ],
  },
  define: { __RLM_VERSION__: JSON.stringify(version) },
  test: {
    reporters: ["default", "./tests/count-reporter.ts"],
    // State lives in objects, never in modules, so files can share a process: five times as fast as one process each.
    isolate: false,
    globalSetup: ["./tests/data-folder.ts"],
    // A busy machine takes its time; what never comes is a failure all the same.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["tests/**/*.test.ts"],
          exclude: system,
          pool: "threads",
          // Compilers and property tests take several seconds on a busy machine.
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: system,
          // A process of their own: signals, exit codes and descriptors are those of a real program.
          pool: "forks",
          // More than two cores could keep busy: they wait for processes and limits half of the time.
          maxWorkers: Math.max(4, availableParallelism()),
          sequence: { groupOrder: 1 },
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
