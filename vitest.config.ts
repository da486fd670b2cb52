import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

// Tests that start processes. They come after the others.
const system = [
  "tests/{cli,client,contracts,docs,e2e,environments,hostile,kernel,page,rlm,scripts,sdk,server,session,tasks,worker}/**/*.test.ts",
  "tests/runtime.test.ts",
];
/** Files that take long although they are small, so that none of them is the last. */
const SLOW = /tests\/(?:worker\/worker|server\/mcp\/long-calls|session\/state\/stdlib|e2e\/repl\/repl-tmux)\.test\.ts$/;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

const stress = {
  name: "stress",
  description:
    "Floods, gigabytes, hundreds of sessions, races, other tiers and surroundings, releases, code blocks of documents. `npm test` leaves them out; `npm run test:stress` runs them.",
};

const processes = {
  // A process of their own: signals, exit codes and descriptors are those of a real program.
  pool: "forks",
  testTimeout: 180_000,
  hookTimeout: 180_000,
} as const;

export default defineConfig(({ mode }) => ({
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
    globalSetup: ["./tests/data-folder.ts", "./tests/docker/test-engine.ts"],
    sequence: { sequencer: SlowFirst },
    // A busy machine takes its time; what never comes is a failure all the same.
    expect: { poll: { timeout: 20_000 } },
    tags: [stress],
    projects:
      mode === "stress"
        ? [
            {
              extends: true,
              // Two files at a time: each of these tests takes a core or much memory.
              test: { ...processes, name: "stress", include: stressFiles(), maxWorkers: 2 },
            },
          ]
        : [
            {
              extends: true,
              test: {
                name: "unit",
                include: ["tests/**/*.test.ts"],
                exclude: system,
                pool: "threads",
                maxWorkers: Math.max(3, availableParallelism()),
                // Compilers and property tests take several seconds on a busy machine.
                testTimeout: 60_000,
              },
            },
            {
              extends: true,
              test: {
                ...processes,
                name: "system",
                include: system,
                // More than two cores, because they wait for processes and limits; with six, two cores were slower than with four.
                maxWorkers: Math.max(4, availableParallelism()),
                sequence: { groupOrder: 1 },
              },
            },
          ],
  },
}));

/** The files that have stress tests, so that the others are not even loaded. */
function stressFiles(): string[] {
  return readdirSync("tests", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join("tests", name))
    .filter((file) => /tags: "stress"|@module-tag stress/.test(readFileSync(file, "utf8")));
}
