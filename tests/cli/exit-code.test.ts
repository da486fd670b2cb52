import { expect, test } from "vitest";
import { fromError, fromResult, fromRunResult } from "../../src/cli/exit-code.ts";
import { UsageError } from "../../src/cli/options/usage-error.ts";
import {
  BackendConnectionError,
  CapabilityMissingError,
  ConfigurationError,
  EnvironmentUnavailableError,
  REPLSecurityError,
  ServerConnectionError,
  ServerRefusedError,
  SessionBusyError,
  SessionNotFoundError,
  TaskStateError,
  TokenBudgetExhausted,
} from "../../src/errors.ts";
import type { ExecutionResult } from "../internals.ts";

test.each([
  [{ status: "ok" }, 0],
  [{ status: "error" }, 1],
  [{ status: "exit", exitCode: 0 }, 0],
  [{ status: "exit", exitCode: 42 }, 42],
  [{ status: "interrupted", reason: "timeout" }, 124],
  [{ status: "interrupted", reason: "cancelled" }, 130],
  [{ status: "interrupted", reason: "memory" }, 70],
  [{ status: "interrupted", reason: "worker-lost" }, 70],
] as const)("the result %j", (result, code) => {
  expect(fromResult(result as unknown as ExecutionResult)).toBe(code);
});

test.each([
  [new UsageError("x"), 2],
  [new REPLSecurityError({ action: "mount", target: "/", environment: "local", why: "x" }), 2],
  [new EnvironmentUnavailableError({ environment: "local", why: "x", fix: "y" }), 70],
  [new CapabilityMissingError({ action: "x", capability: "shell", environment: "local", why: "y" }), 2],
  [new ConfigurationError({ source: "rlm.toml", line: 1, why: "x" }), 2],
  [new BackendConnectionError({ backend: "b", fault: "configuration", why: "no key", retryable: false }), 2],
  [new BackendConnectionError({ backend: "b", fault: "server", why: "x", retryable: true }), 70],
  [new TokenBudgetExhausted({ used: 2, limit: 1, partial: null }), 1],
  [new TypeError("x"), 70],
  [new ServerConnectionError({ url: "http://x", fault: "configuration", why: "the token" }), 2],
  [new ServerConnectionError({ url: "http://x", fault: "connection", why: "nobody" }), 70],
  [new ServerRefusedError({ status: 422, problem: "CONTEXT", detail: "x" }), 2],
  [new ServerRefusedError({ status: 429, problem: "RATE_LIMITED", detail: "x" }), 70],
  [new ServerRefusedError({ status: 410, problem: "OUTCOME_LOST", detail: "x" }), 70],
  [new SessionNotFoundError({ sessionId: "s", known: [] }), 2],
  [new TaskStateError({ taskId: "t", action: "pause", why: "x" }), 2],
  [new SessionBusyError({ sessionId: "s", waiting: 128 }), 70],
])("the error %s", (error, code) => {
  expect(fromError(error)).toBe(code);
});

test.each([
  ["final", 0],
  ["partial", 3],
  ["failed", 1],
  ["cancelled", 130],
] as const)("a run that is %s", (status, code) => {
  expect(fromRunResult({ status })).toBe(code);
});
