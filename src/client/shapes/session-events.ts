// The events of a session.

import type { SessionEvent } from "../../protocol/events.ts";
import { number, object, oneOf, string, variants } from "./check.ts";
import { announced, base, delta, executionEvents } from "./executions.ts";
import { checkpoint, stateOrigin } from "./sessions.ts";

export const sessionEvent = variants<SessionEvent>("type", {
  ...executionEvents,
  "execution-queue": announced,
  "background-delta": object(delta),
  "checkpoint-add": object({ ...base, checkpoint }),
  "checkpoint-drop": object({ ...base, checkpointId: string }),
  "session-fork": object({ ...base, forkId: string }),
  "session-reset": object({
    ...base,
    ...stateOrigin,
    epoch: number,
    why: oneOf("reset", "worker-lost", "restored", "rewound"),
  }),
  "session-end": object({ ...base, why: string }),
});
