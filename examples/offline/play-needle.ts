// A script for finding one line among many.

import type { BackendRequest } from "rlm-runtime";
import { block, whereIs } from "./model.ts";

const STEPS = [
  block('print(f"{len(context):,} characters, {context.count(chr(10)):,} lines")\nprint(context[:80])'),
  block('grep("lighthouse", context)'),
  block('FINAL("8117")'),
];

export function playNeedle(request: BackendRequest): string {
  return STEPS[whereIs(request).step] ?? "";
}
