// How large a value is, in the words of its kind.

import type { Variable } from "rlm-runtime/client";
import { formatCount } from "../../parts/format.ts";

const TEXTS = new Set(["str"]);
const BYTES = new Set(["bytes", "bytearray", "memoryview"]);

/** `12 × 3 float64`, `5 items`. Empty: it has no size. */
export function describeSize({
  type,
  shape,
  dtype,
  length,
}: Pick<Variable, "type" | "shape" | "dtype" | "length">): string {
  if (shape !== undefined && shape.length > 0) {
    const size = shape.map((one) => one.toLocaleString("en")).join(" × ");
    return dtype === undefined ? size : `${size} ${dtype}`;
  }
  if (length === undefined) return "";
  const [one, many] = TEXTS.has(type)
    ? ["character", "characters"]
    : BYTES.has(type)
      ? ["byte", "bytes"]
      : ["item", "items"];
  return `${formatCount(length)} ${length === 1 ? one : many}`;
}
