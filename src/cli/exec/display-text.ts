// Rich output as text: its text form, or one line that describes an image.

import type { MimeBundle, OutputStream } from "../../protocol/execution.ts";
import { pngSize } from "../../util/image/png.ts";

export interface DisplayText {
  /** Images are described on stderr, because stdout may be the input of another program. */
  readonly stream: OutputStream;
  readonly text: string;
}

/** Undefined: there is nothing to show. */
export function toDisplayText(bundle: MimeBundle): DisplayText | undefined {
  const plain = bundle["text/plain"];
  const image = Object.keys(bundle).find((type) => type.startsWith("image/"));
  if (image !== undefined) {
    const facts = [describe(image, bundle[image] ?? ""), plain].filter((fact) => fact !== undefined);
    return { stream: "stderr", text: `[${facts.join(": ")}]\n` };
  }
  const text = plain ?? Object.entries(bundle).find(([type]) => type.startsWith("text/"))?.[1];
  if (text !== undefined) return { stream: "stdout", text: `${text}\n` };
  const types = Object.keys(bundle);
  return types.length === 0 ? undefined : { stream: "stderr", text: `[${types.join(", ")}]\n` };
}

function describe(type: string, data: string): string {
  const isText = type.endsWith("+xml");
  const bytes = isText ? Buffer.byteLength(data) : Math.floor((data.length * 3) / 4);
  const size = type === "image/png" ? pngSize(Buffer.from(data.slice(0, 32), "base64")) : undefined;
  return `${type}${size === undefined ? "" : ` ${size.width}x${size.height}`}, ${Math.ceil(bytes / 1024)} KiB`;
}
