// Ends a test run with one machine-readable line: "N passed, N failed", then ", N skipped" if there are any.
//
// Whatever keeps tests from running counts as failed: a file that does not load, a hook that throws, an uncaught error.
// So "0 failed" means that nothing went wrong. Tests of the other suite do not count as skipped. A line before the last one says
// how many stress tests were left out, and how to run them.
import type { Reporter, TestModule } from "vitest/node";

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    let omitted = 0;
    for (const module of modules) {
      const isStressSuite = module.project.name === "stress";
      for (const group of [module, ...module.children.allSuites()]) {
        if (group.errors().length > 0) counts.failed += 1;
      }
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        const isStress = test.tags.includes("stress");
        if (state !== "skipped" || isStress === isStressSuite) counts[state] += 1;
        else if (isStress) omitted += 1;
      }
    }
    const { passed, failed, skipped, pending } = counts;
    const hint = omitted > 0 ? `Stress tests left out: ${omitted}. To run them: npm run test:stress\n` : "";
    const line = `${passed} passed, ${failed} failed${skipped + pending > 0 ? `, ${skipped + pending} skipped` : ""}\n`;
    // Printed at exit, after the default reporter's summary.
    process.once("exit", () => process.stdout.write(hint + line));
  }
}
