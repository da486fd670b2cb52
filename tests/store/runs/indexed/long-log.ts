// Writes the folder of a recorded run of many nodes, as large as asked for.

import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { RunId } from "../../../../src/protocol/ids.ts";
import {
  callEnd,
  callStart,
  codeEnd,
  nodeEnd,
  nodeStart,
  numberer,
  runEnd,
  runStart,
  STARTED,
} from "../recorded-run.ts";

interface LongLog {
  readonly nodes: number;
  /** Of `events.jsonl`, at least. */
  readonly bytes: number;
}

const STEPS = 4;

/** A root with children, each of several steps. Texts are as long as fits into a line; a few are blobs. */
export function writeLongLog(folder: string, id: RunId, { nodes, bytes }: LongLog): { readonly events: number } {
  const path = join(folder, id);
  mkdirSync(join(path, "blobs"), { recursive: true });
  const log = openSync(join(path, "events.jsonl"), "w");
  const number = numberer(id);
  let events = 0;
  const add = (event: Parameters<typeof number>[0] | object): void => {
    const first = events === 0 ? { schemaVersion: 2 } : {};
    writeSync(log, `${JSON.stringify({ ...first, ...number(event as Parameters<typeof number>[0]) })}\n`);
    events += 1;
  };
  // Each step has five texts.
  const text = 'naïve text, "quoted"\n '.repeat(Math.ceil(bytes / nodes / STEPS / 5 / 23));
  const addNode = (node: number): void => {
    const nodeId = `n${node}`;
    for (let step = 1; step <= STEPS; step += 1) {
      const callId = `c${node}-${step}`;
      const same = step === 1 ? [] : [{ $same: `c${node}-${step - 1}`, count: step * 2 - 2 }];
      const added = { role: "user", content: `${text}${node}` };
      add({ type: "step-start", nodeId, step });
      add({ ...callStart({ nodeId, callId, step }), messages: [...same, added] });
      add(callEnd({ nodeId, callId, text: `${text}reply ${node}`, isCut: true }));
      add({ type: "code-start", nodeId, step, code: `print(${node})\n${text}` });
      const output = `${text}output ${node}.${step}`;
      add(codeEnd(nodeId, step, output));
      add({ type: "step-end", nodeId, step, observation: output });
    }
  };
  add(runStart());
  add(nodeStart("n0", null));
  for (let node = 1; node < nodes; node += 1) {
    add(nodeStart(`n${node}`, "n0", `Look at part ${node}`));
    addNode(node);
    add(nodeEnd(`n${node}`, `needle-${node} is found`));
  }
  const blob = `${"x".repeat(200_000)} hidden Haystack`;
  const digest = createHash("sha256").update(blob).digest("hex");
  writeFileSync(join(path, "blobs", digest), blob);
  addNode(0);
  add({ ...nodeEnd("n0", ""), answer: { $blob: digest, bytes: blob.length, head: blob.slice(0, 200) } });
  add(runEnd(id));
  closeSync(log);
  const meta = { schemaVersion: 2, id, query: "How many?", model: "big", subModel: "small", started: STARTED };
  writeFileSync(
    join(path, "meta.json"),
    JSON.stringify({ ...meta, ended: STARTED + 1, status: "final", lostEvents: 0 }),
  );
  return { events };
}
