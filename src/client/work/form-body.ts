// A form (multipart/form-data) whose parts may be streams: nothing is held in memory that was not there before.

import { isBlob } from "../../api/content.ts";
import { fixedBody, streamBody, toPieces, type RequestBody } from "../net/body.ts";
import { randomId } from "../net/ids.ts";
import type { Content } from "../../api/web-types.ts";
import type { ContextPart } from "./context.ts";

/** The request comes first, and says what the other parts are. Throws a TypeError for a part that is no content. */
export function formBody(request: object, parts: readonly ContextPart[]): RequestBody | Promise<RequestBody> {
  const boundary = randomId("rlm");
  const named = parts.map(({ content, ...part }, index) => ({ name: `p${index}`, part, content }));
  const described = { ...request, parts: named.map(({ name, part }) => ({ part: name, ...part })) };
  const pieces: Content[] = [
    head(boundary, "request", "application/json"),
    JSON.stringify(described),
    ...named.flatMap(({ name, content }) => [
      `\r\n${head(boundary, name, "application/octet-stream")}`,
      checkContent(content),
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
