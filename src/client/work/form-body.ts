// A form (multipart/form-data) whose parts may be streams: nothing is held in memory that was not there before.

import { isBlob } from "../../api/content.ts";
import { fixedBody, streamBody, toPieces, type RequestBody } from "../net/body.ts";
import { randomId } from "../net/ids.ts";
import type { Content } from "../../api/web-types.ts";
import type { ContextPart } from "./context.ts";

/** The request comes first, and says what the other parts are. Throws a TypeError for a part that is no content. */
export function formBody(request: object, parts: readonly ContextPart[]): RequestBody | Promise<RequestBody> {
  const boundary = randomId("rlm");
  const nameOf = (index: number): string => `p${index}`;
  const described = { ...request, parts: parts.map(({ part }, index) => ({ part: nameOf(index), ...part })) };
  const pieces: Content[] = [
    head(boundary, "request", "application/json"),
    JSON.stringify(described),
    ...parts.flatMap(({ contents }, index) => [
      `\r\n${head(boundary, nameOf(index), "application/octet-stream")}`,
      ...contents.map(checkContent),
    ]),
    `\r\n--${boundary}--\r\n`,
  ];
  const type = `multipart/form-data; boundary=${boundary}`;
  if (pieces.every(isFixed)) return fixedBody(new Blob(pieces), type);
  return streamBody(() => concatenate(pieces), type, pieces.every(isRepeatable));
}

function head(boundary: string, name: string, type: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
}

function checkContent(content: Content): Content {
  if (!isFixed(content)) toPieces(content);
  return content;
}

function isFixed(content: Content): content is string | Uint8Array<ArrayBuffer> | Blob {
  return typeof content === "string" || content instanceof Uint8Array || content instanceof Blob;
}

/** What can be read from its beginning again, so that a request can be repeated. */
function isRepeatable(content: Content): boolean {
  return isFixed(content) || isBlob(content);
}

async function* concatenate(pieces: readonly Content[]): AsyncGenerator {
  for (const piece of pieces) yield* toPieces(piece);
}
