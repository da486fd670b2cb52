// Labels of everything that we create in an engine, and whose it is.

import * as z from "zod";
import { parseJSON } from "../../util/parse-json.ts";
import { isGone, thisProcess } from "./owner.ts";

export const KIND = "dev.rlm-runtime.kind";
const OWNER = "dev.rlm-runtime.owner";
const CONTAINERS = ["session", "build", "check"];
/** What builds or checks an image takes minutes. Clocks of machines differ. */
const SHORT_LIVED_SECONDS = 24 * 3600;
/** The states of a container that runs no code and never will again: ours are started once, when they are created. */
const NOT_RUNNING = ["created", "exited", "dead"];

export function labels(kind: "session" | "build" | "check" | "worker"): Record<string, string> {
  return { [KIND]: kind, [OWNER]: JSON.stringify(thisProcess()) };
}

const digest = z.string().max(64);
const ownerLabel = z.object({
  machine: digest,
  boot: digest,
  pidNamespace: digest,
  pid: z.int().min(1),
  start: z.string().max(64),
});

export interface ContainerStatus {
  /** Seconds since 1970. Undefined: the engine does not say. */
  readonly created: number | undefined;
  readonly state: string | undefined;
}

/** Whether nobody needs a container: its host is gone, or nothing can be known of its host and it should have been removed long ago. */
export function isStale(found: Readonly<Record<string, string>>, { created, state = "" }: ContainerStatus): boolean {
  const { data: owner } = ownerLabel.safeParse(parseJSON(found[OWNER] ?? ""));
  // A container that a user starts from an image of ours has the labels of the image.
  if (owner === undefined || !CONTAINERS.includes(found[KIND] ?? "")) return false;
  if (isGone(owner)) return true;
  if (created === undefined || Date.now() / 1000 - created < SHORT_LIVED_SECONDS) return false;
  return found[KIND] === "build" || found[KIND] === "check" || NOT_RUNNING.includes(state);
}
