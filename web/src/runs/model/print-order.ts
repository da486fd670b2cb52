// What code printed, in the order in which it was printed.

import { isEmptyText, isRecord, type RunText } from "../../state/runs/run-text.ts";

export interface Printed {
  readonly stream: "stdout" | "stderr";
  readonly text: RunText;
}

const MAX_PIECES = 200;

/** `order` says how the streams alternate. Without it, or if a stream is stored apart, they come one after the other. */
export function printedParts(stdout: RunText, stderr: RunText, order: unknown): readonly Printed[] {
  if (stdout.kind === "whole" && stderr.kind === "whole" && Array.isArray(order) && order.length <= MAX_PIECES) {
    return alternating({ stdout: stdout.text, stderr: stderr.text }, order);
  }
  return [{ stream: "stdout", text: stdout } as const, { stream: "stderr", text: stderr } as const].filter(
    ({ text }) => !isEmptyText(text),
  );
}

function alternating(texts: Record<"stdout" | "stderr", string>, order: readonly unknown[]): readonly Printed[] {
  const done = { stdout: 0, stderr: 0 };
  const parts: Printed[] = [];
  for (const piece of order) {
    if (!isRecord(piece)) continue;
    const stream = piece["stream"] === "stderr" ? "stderr" : "stdout";
    const end = done[stream] + (Number(piece["characters"]) || 0);
    addPart(parts, stream, texts[stream].slice(done[stream], end));
    done[stream] = end;
  }
  for (const stream of ["stdout", "stderr"] as const) addPart(parts, stream, texts[stream].slice(done[stream]));
  return parts;
}

function addPart(parts: Printed[], stream: Printed["stream"], text: string): void {
  if (text !== "") parts.push({ stream, text: { kind: "whole", text } });
}
