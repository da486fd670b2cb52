// Checks Python and the sandbox by using them: opens a session and computes 1+1.

import { readFileSync } from "node:fs";
import { EnvironmentUnavailableError } from "../../errors.ts";
import { openRuntime } from "../../runtime.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import { checkEnvironment } from "../../environments/registry.ts";
import type { EnvironmentReport } from "../../environments/environment.ts";
import { describeCapabilities } from "../../protocol/capabilities.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { describeTier } from "../io/describe-tier.ts";
import { ok, warn, type Finding } from "./finding.ts";
import { shimPath } from "./python-shim.ts";

type Configured = Pick<RuntimeOptions, "environment" | "python" | "users" | "docker" | "wasm" | "onProgress">;

/** Kernel settings that decide whether an unprivileged user can build a sandbox. */
const SYSCTLS = [
  "user/max_user_namespaces",
  "kernel/unprivileged_userns_clone",
  "kernel/apparmor_restrict_unprivileged_userns",
] as const;

const ENGINE_LIMIT_MS = 20_000;

/** With the environment, the interpreter and the users of the configuration. */
export async function checkSandbox(options: Configured): Promise<readonly Finding[]> {
  const { environment: where, python: wanted, users, wasm, onProgress } = options;
  // A check pulls nothing: an image that is not there is a finding.
  const docker = omitUndefined({ ...options.docker, ...(where === "docker" && { pull: "never" as const }) });
  const configured = omitUndefined({ environment: where, python: wanted, users, docker, wasm, onProgress });
  await using runtime = await openRuntime({ poolSize: 0, preload: [], ...configured });
  try {
    if (where === "docker") await checkEnvironment(where, { docker: options.docker, limitMs: ENGINE_LIMIT_MS });
    const started = performance.now();
    const session = await runtime.openSession({ id: "doctor" });
    const openedMs = performance.now() - started;
    const result = await session.execute("1+1").result;
    const report = runtime.report();
    const answer = result.value?.["text/plain"] ?? result.error?.value ?? result.status;
    if (answer !== "2") return [python(report), failed(`1+1 gave ${answer}`, "Report this: it is a fault of ours")];
    const times = `first session in ${openedMs.toFixed(0)} ms, 1+1 in ${result.durationMs.toFixed(1)} ms`;
    const sandbox = ok("sandbox", `tier ${report.tier}, ${times}`);
    return [python(report), sandbox, ...gaps(report), environment(report), ...hardening(report)];
  } catch (error) {
    return explain(error, runtime.report());
  }
}

/** A script of this machine can stand in for its Python, not for that of a container. */
export function python({ name, python: found }: Pick<EnvironmentReport, "name" | "python">): Finding {
  const check = "python";
  if (found === null) return ok(check, "not started");
  if (found.executable === null) return ok(check, `${found.version} in WebAssembly`);
  const text = `${found.version} at ${found.executable}`;
  const shim = name === "docker" ? undefined : shimPath();
  if (shim === undefined) return ok(check, text);
  const fix = `RLM_PYTHON=${found.executable} saves the detour at every start`;
  return warn(check, `${text}, by way of the script ${shim}`, fix);
}

function gaps(report: EnvironmentReport): Finding[] {
  const [found, fix] = describeTier(report);
  return found === undefined || fix === undefined ? [] : [warn("sandbox", found, fix)];
}

function environment({ name, capabilities }: EnvironmentReport): Finding {
  return { ...ok("environment", `${name}: ${describeCapabilities(capabilities)}`), capabilities };
}

/** What the kernel adds. A container has the limits of its engine, and the seat belt has none of this. */
function hardening({ tier, landlock, cgroup, user, users }: EnvironmentReport): Finding[] {
  if (tier === "seat-belt") return [];
  const landlocked =
    landlock !== null && landlock > 0
      ? ok("landlock", `version ${landlock}`)
      : warn("landlock", "not in use", "Linux 5.13 or newer, with Landlock enabled, adds this layer to the others");
  const limited =
    cgroup === null
      ? ok("cgroup", "none can be made here; the init of a session watches its memory")
      : ok("cgroup", `version ${cgroup}: the kernel limits the memory of a session`);
  if (tier === "container") {
    const limits = "the engine limits the memory and the processes of a session's container";
    return [
      landlocked,
      ok("cgroup", limits),
      ok("user", `sessions run as user ${user}, each in a container of its own`),
    ];
  }
  if (users === null || user === null) return [landlocked, limited];
  const found =
    "first" in users
      ? `each session runs as a user of its own, from ${users.first} to ${users.last}`
      : `sessions run as user ${user}, each with a small share of what the kernel allows a user: ${users.why}`;
  return [landlocked, limited, ok("user", found)];
}

/** If Python itself is the problem, its line says so and the sandbox is not listed. */
function explain(error: unknown, report: EnvironmentReport): readonly Finding[] {
  if (!(error instanceof EnvironmentUnavailableError)) {
    return [python(report), failed((error as Error).message, "Report this: it is a fault of ours")];
  }
  const { why, fix } = error;
  if (report.python === null)
    return [{ check: why.startsWith("Python") ? "python" : "sandbox", status: "fail", found: why, fix }];
  return [python(report), failed(why, fix), ok("kernel", sysctls())];
}

function failed(found: string, fix: string): Finding {
  return { check: "sandbox", status: "fail", found, fix };
}

function sysctls(): string {
  const values = SYSCTLS.flatMap((name) => {
    try {
      return [`${name.replace("/", ".")}=${readFileSync(`/proc/sys/${name}`, "utf8").trim()}`];
    } catch {
      return []; // this kernel does not have it
    }
  });
  return values.join(" ") || "no settings for user namespaces";
}
