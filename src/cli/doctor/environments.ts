// What the environments besides `local` would use on this machine. Only who chooses one needs it, so a missing one is no problem.

import type { DockerOptions } from "../../api/local.ts";
import { checkEnvironment } from "../../environments/registry.ts";
import { EnvironmentUnavailableError } from "../../errors.ts";
import { ok, type Finding } from "./finding.ts";

const CHECKED = ["docker", "wasm"] as const;

export async function checkEnvironments(docker: DockerOptions): Promise<readonly Finding[]> {
  return Promise.all(CHECKED.map((name) => check(name, docker)));
}

async function check(name: (typeof CHECKED)[number], docker: DockerOptions): Promise<Finding> {
  try {
    return ok(name, await checkEnvironment(name, { docker }));
  } catch (error) {
    if (!(error instanceof EnvironmentUnavailableError)) throw error;
    return ok(name, `${error.why}; only --env ${name} needs it. ${error.fix}`);
  }
}
