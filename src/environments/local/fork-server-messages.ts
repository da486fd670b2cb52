// What the fork server sends: one line of JSON each.
//
// Nothing is validated. The fork server and the inits whose events it forwards are our own programs and run no user code. User code has no
// descriptor of the socket between them. The fork server sets `sandbox` itself, so an init speaks only for its own sandbox. If code took
// over an init, it could send false events that a schema accepts.

import type { ProcessEvent } from "../environment.ts";
import type { UserRange } from "../../util/user-range.ts";

/** Its first message. */
export interface Hello {
  readonly event: "hello";
  readonly pid: number;
  readonly python: string;
  readonly executable: string;
  readonly landlock: number;
  readonly uid: number;
  /** The version of the memory cgroups that sandboxes get. Null: none can be made. */
  readonly cgroup: 1 | 2 | null;
  /** The users that sandboxes get, or why they share one. */
  readonly users: UserRange | { readonly why: string };
  readonly threads: number;
  readonly modules: readonly string[];
  /** On macOS: the folders of the interpreter, the folder in which each sandbox has one, and that of the pipes, each named by its number. */
  readonly folders?: readonly string[];
  readonly scratch?: string;
  readonly pipes?: string;
}

/** Its first and last message: the range of users that it was given cannot be used. */
export interface Refusal {
  readonly event: "refused";
  readonly why: string;
}

/** From the fork server itself, or from the init of one of its sandboxes. */
export type ServerEvent = { readonly sandbox: number } & (
  | BranchEvent
  | JobEvent
  | ProgramEvent
  | UsageEvent
  | { readonly event: "failed"; readonly stage: string; readonly message: string }
  | OpenedEvent
  | { readonly event: "less" }
  | { readonly event: "closed" }
);

/** Where the session finds its files: its working directory, and the folder for those of its forks. */
export interface OpenedEvent {
  readonly event: "opened";
  readonly work: string;
  readonly forks: string;
}

/** A branch is a worker or a checkpoint. */
export type BranchEvent =
  | { readonly event: "pipes"; readonly branch: number; readonly fds: readonly number[] }
  | { readonly event: "signalled" | "cloned"; readonly branch: number }
  | { readonly event: "no-clone"; readonly branch: number; readonly message: string }
  | {
      readonly event: "exit";
      readonly branch: number;
      readonly reason: string | null;
      readonly code?: number;
      readonly signal?: number;
    };

export type JobEvent =
  | { readonly event: "pipes"; readonly job: number; readonly fds: readonly number[] }
  | { readonly event: "job-end"; readonly job: number; readonly why: string | null };

/** `cpu` is in seconds. */
export type ProgramEvent =
  | { readonly event: "pipes"; readonly program: number; readonly fds: readonly number[] }
  | {
      readonly event: "program-exit";
      readonly program: number;
      /** Set if it could not be started; the other fields are absent then. */
      readonly why?: string;
      readonly reason?: string | null;
      readonly code?: number;
      readonly signal?: number;
      readonly left?: boolean;
      readonly cpu?: number;
      readonly peak?: number;
    }
  | {
      readonly event: "program-gone" | "program-usage";
      readonly program: number;
      readonly cpu: number;
      readonly peak: number;
    }
  | { readonly event: "program-signalled"; readonly program: number };

/** `memory` is by member. */
export interface UsageEvent {
  readonly event: "usage";
  readonly id: number;
  readonly memory: Readonly<Record<string, number>>;
  readonly disk: number;
}

/** The process that an event is about, if it has started or ended. The processes of a sandbox end with it, without events of their own. */
export function toProcessEvent(event: ServerEvent): ProcessEvent | undefined {
  const { sandbox } = event;
  const start = (kind: ProcessEvent["kind"], number: number, facts: ProcessEvent["facts"] = {}): ProcessEvent => {
    return { type: "start", kind, id: `${sandbox}.${number}`, facts };
  };
  switch (event.event) {
    case "opened":
      return { type: "start", kind: "sandbox", id: String(sandbox), facts: {} };
    case "closed":
      return { type: "end", kind: "sandbox", id: String(sandbox), facts: {} };
    case "pipes":
      if ("program" in event) return start("command", event.program);
      return "branch" in event && event.fds.length > OUTPUT_PIPES ? start("worker", event.branch) : undefined;
    case "cloned":
      return start("worker", event.branch, { isCheckpoint: true });
    case "exit":
    case "program-exit": {
      const [kind, number] =
        event.event === "exit" ? (["worker", event.branch] as const) : (["command", event.program] as const);
      const { code, signal, reason } = event;
      return { type: "end", kind, id: `${sandbox}.${number}`, facts: { code, signal, reason } };
    }
    case "failed":
    case "job-end":
    case "less":
    case "no-clone":
    case "program-gone":
    case "program-signalled":
    case "program-usage":
    case "signalled":
    case "usage":
      return undefined;
  }
}

/** Of a worker that gets new ones while it runs. */
const OUTPUT_PIPES = 2;
