// What the session suite is given, and what its cases share.
//
// Cases never ask for the name of an environment. What one does not have is declared: its capabilities, and what else is unsupported, with
// the reason. A case that needs it is skipped with that reason, and a case beside it tests the absence.

import { expect, type TestContext } from "vitest";
import type { LocalRuntime, LocalSession, LocalSessionOptions, RuntimeOptions } from "../../../src/api/local.ts";
import type { Capabilities } from "../../../src/protocol/capabilities.ts";

/**
 * What most environments and tiers have, besides capabilities. `disk-quota`: files are limited. `mounts`: folders of the host can be
 * visible. `links`: code can make symbolic links.
 */
export type Feature = "disk-quota" | "mounts" | "links";

export interface SessionsContract {
  /** Opens a runtime whose sessions run in the environment. */
  readonly open: (options?: RuntimeOptions) => Promise<LocalRuntime>;
  /** What it must declare, and no more. */
  readonly capabilities: Capabilities;
  /** What it does not have, and why. Default: it has all. */
  readonly unsupported?: Partial<Readonly<Record<Feature, string>>>;
  /** A memory limit that an empty session fits into. Default: 256 MiB. */
  readonly smallMemoryBytes?: number;
}

export interface Suite extends Required<SessionsContract> {
  readonly name: string;
  /** The runtime that all cases share. */
  readonly runtime: () => LocalRuntime;
}

const CAPABILITIES = ["fork", "checkpoint", "shell", "processes", "threads", "watch", "inspectWhileRunning"] as const;
type Capability = (typeof CAPABILITIES)[number];

export function openSession(suite: Suite, options?: LocalSessionOptions): Promise<LocalSession> {
  return suite.runtime().openSession(options);
}

/** Skips a case that needs what the environment does not have. */
export function needs(suite: Suite, { skip }: TestContext, ...features: readonly (Feature | Capability)[]): void {
  for (const feature of features)
    skip(isUnsupported(suite, feature), `${suite.name} has no ${feature}: ${whyNot(suite, feature)}`);
}

/** Skips the case of an absence where there is none. */
export function needsAbsence(suite: Suite, { skip }: TestContext, feature: Feature | Capability): void {
  skip(!isUnsupported(suite, feature), `${suite.name} has ${feature}`);
}

/** An error that names the capability, the environment, and what to use instead. */
export function missing(suite: Suite, capability: Capability): unknown {
  return expect.objectContaining({
    capability,
    message: expect.stringMatching(`environment '${suite.name}' does not have the capability '${capability}'\\. \\w+`),
  });
}

function isUnsupported({ capabilities, unsupported }: Suite, feature: Feature | Capability): boolean {
  return isCapability(feature) ? !capabilities[feature] : unsupported[feature] !== undefined;
}

function whyNot({ unsupported }: Suite, feature: Feature | Capability): string {
  return isCapability(feature) ? "its capabilities say so" : (unsupported[feature] ?? "");
}

function isCapability(feature: Feature | Capability): feature is Capability {
  return CAPABILITIES.some((name) => name === feature);
}
