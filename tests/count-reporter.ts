// Ends a test run with one machine-readable line: "N passed, N failed", then ", N skipped" if there are any.
//
// Whatever keeps tests from running counts as failed: a file that does not load, a hook that throws, an uncaught error.
// So "0 failed" means that nothing went wrong.
import type { Reporter, TestModule } from "vitest/node";

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const group of [module, ...module.children.allSuites()]) {
        if (group.errors().length > 0) counts.failed += 1;
      }
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
    }
    const { passed, failed, skipped, pending } = counts;
    const line = `${passed} passed, ${failed} failed${skipped + pending > 0 ? `, ${skipped + pending} skipped` : ""}\n`;
    // Printed at exit, after the default reporter's summary.
    process.once("exit", () => process.stdout.write(line));
  }
}
