// Runs with a scripted model, for tests.

import {
  type RLM,
  type RLMOptions,
  type RunEvent,
  type RunRequest,
  type Runtime,
  ScriptedBackend,
} from "../internals.ts";
import type { RunResult } from "../../src/protocol/runs.ts";

export type Script = ConstructorParameters<typeof ScriptedBackend>[0];
export type ScriptFunction = Extract<Script, (...args: never[]) => unknown>;
type ScriptRequest = Parameters<ScriptFunction>[0];

/** No cache, no log, always a session. Scripts may repeat themselves. */
export function scripted(runtime: Runtime, script: Script, options: Partial<RLMOptions> = {}): RLM {
  return runtime.rlm({
    backend: new ScriptedBackend(script),
    model: "root",
    subModel: "sub",
    mode: "rlm",
    cache: false,
    log: false,
    strategy: { guards: { repeatedBlocks: 0 } },
    ...options,
  });
}

/** A reply with a block of code. */
export const code = (text: string): string => `Let me see.\n\`\`\`repl\n${text}\n\`\`\``;

export const lastOf = ({ messages }: ScriptRequest): string => messages.at(-1)?.content ?? "";

/** Whether the request asks for the best answer at a limit. */
export const isEnd = (request: ScriptRequest): boolean => lastOf(request).includes("has to end here");

/** The step of the node, from 0. */
export const stepOf = ({ messages }: ScriptRequest): number =>
  messages.filter(({ role }) => role === "assistant").length;

/** The question of the node. */
export const questionOf = ({ messages }: ScriptRequest): string =>
  /Question: ([^\n]*)/.exec(messages.map(({ content }) => content).join("\n"))?.[1] ?? "";

export interface Watched {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  /** What the root was shown after each step. */
  readonly observations: readonly string[];
}

/** `onEvent` is called for each event before the next one is read. */
export async function watch(
  rlm: RLM,
  request: Partial<RunRequest> = {},
  onEvent: (event: RunEvent, events: readonly RunEvent[]) => unknown = () => {},
): Promise<Watched> {
  const run = rlm.run({ query: "?", ...request });
  const events: RunEvent[] = [];
  for await (const event of run) {
    events.push(event);
    await onEvent(event, events);
  }
  const observations = events.flatMap((event) =>
    event.type === "step-end" && event.nodeId === "n0" ? [event.observation] : [],
  );
  return { result: await run.result, events, observations };
}
