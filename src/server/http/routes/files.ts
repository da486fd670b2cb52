// The working directory of a session. Paths are resolved inside the sandbox.
//
// A JSON response is always about files: the content of a file has another media type, whatever it is.

import type { z } from "zod";
import { FileError } from "../../../errors.ts";
import { fileEntry, fileListing, type FileEntry } from "../../../protocol/files.ts";
import type { Files, OpenFile } from "../../../session/files/files.ts";
import { onAbort } from "../../../util/async/on-abort.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { parseRange } from "../responses/byte-range.ts";
import { toAttachment, toDownload, type Download } from "../responses/download.ts";
import { streamEvents } from "../responses/event-stream.ts";
import { watchEvents } from "../responses/watch-events.ts";
import { toFilePath } from "../file-path.ts";
import { ProblemError, withArguments, type Problem } from "../../net/problem.ts";
import { BYTES, EVENTS, json, noContent, routesTagged, type RouteRequest } from "../route.ts";
import * as schemas from "../../../protocol/api/files.ts";
import { sessionOf } from "./sessions.ts";

const route = routesTagged("Files");
const FOLDER = "/v1/sessions/{id}/files";
const FILE = `${FOLDER}/{path+}`;
/** Media types that a browser does not execute. */
const TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  log: "text/plain",
  md: "text/plain",
  pdf: "application/pdf",
  png: "image/png",
  py: "text/plain",
  txt: "text/plain",
  webp: "image/webp",
};
const FILE_TYPES = [...new Set([BYTES, ...Object.values(TYPES)])];

const list = route("GET", FOLDER, {
  summary: "List the working directory",
  query: schemas.listQuery,
  responses: { 200: { description: "Sorted by name; links are not followed", schema: fileListing } },
  problems: [404, 410],
  handle: async ({ params, query, request }, context) => {
    const { signal } = request;
    const { files } = sessionOf({ request, params }, context);
    return json(await withArguments(() => files.list(".", { ...omitUndefined(query), signal })));
  },
});

const readFile = route("GET", FILE, {
  summary: "The content of a file, or the list of a folder",
  description:
    "The content of a file never has the type `application/json`, so that it cannot be confused with a list.",
  query: schemas.fileQuery,
  headers: {
    range: "One range of bytes, as in `bytes=0-99`; several give the whole file",
    "if-range": "The `ETag` of an earlier response, or its `Last-Modified`: the range only if the file is unchanged",
  },
  responses: {
    200: { description: "The file; a list or an entry as JSON", schema: schemas.fileAnswer, types: FILE_TYPES },
    206: { description: "The requested range", types: FILE_TYPES },
  },
  problems: [404, 409, 410, 416],
  handle: async (read, context) => {
    const { query, request } = read;
    const { files } = sessionOf(read, context);
    const path = toFilePath(request);
    const { signal } = request;
    if (query.stat === true) return json(await withArguments(() => files.stat(path, { signal })));
    try {
      return await withArguments(() => download(files, path, read));
    } catch (error) {
      if (!(error instanceof FileError && error.reason === "is-a-folder")) throw error;
      const { depth } = query;
      return json(await withArguments(() => files.list(path, { ...omitUndefined({ depth }), signal })));
    }
  },
});

const write = route("PUT", FILE, {
  isOnce: true,
  summary: "Create or replace a file with the body",
  description:
    "Creates missing folders. The file is replaced atomically; an incomplete upload changes nothing. A path that ends in `/` creates a folder.",
  rawBody: { types: [BYTES], description: "The content" },
  responses: {
    200: { description: "Replaced", schema: fileEntry },
    201: { description: "Created", schema: fileEntry },
  },
  problems: [404, 409, 410, 507],
  handle: async ({ request, params, stream }, context) => {
    const { files } = sessionOf({ request, params }, context);
    const path = toFilePath(request);
    if (request.headers.has("content-range")) throw new ProblemError(PARTIAL);
    const { signal } = request;
    if (path.endsWith("/")) return withArguments(() => makeFolder(files, path.slice(0, -1) || "/", signal));
    const wasThere = await withArguments(() => files.exists(path, { signal }));
    const entry: FileEntry = await stream.receive((content) => files.write(path, content, { signal }));
    return json(entry, wasThere ? 200 : 201);
  },
});

const remove = route("DELETE", FILE, {
  summary: "Remove a file, a link, or a folder with its content",
  responses: { 204: { description: "Removed" } },
  problems: [404, 409, 410],
  handle: async ({ request, params }, context) => {
    const { files } = sessionOf({ request, params }, context);
    await withArguments(() => files.remove(toFilePath(request)));
    return noContent();
  },
});

const rename = route("POST", "/v1/sessions/{id}/rename", {
  isOnce: true,
  summary: "Move a file, a link or a folder",
  description: "A file at the new path is replaced, and missing folders are created.",
  body: schemas.renameBody,
  responses: { 200: { description: "At its new path", schema: fileEntry } },
  problems: [404, 409, 410, 507],
  handle: async ({ params, body: { path, to }, request }, context) => {
    const { signal } = request;
    const { files } = sessionOf({ request, params }, context);
    return json(await withArguments(() => files.rename(path, to, { signal })));
  },
});

const watch = route("GET", "/v1/sessions/{id}/watch", {
  summary: "Follow the changes in a folder",
  description:
    "Starts with `watch-start`, when watching has begun; then a `change` for each change, up to `watch-end`, with the reason in `why`. Changes " +
    "before a reader connects are not sent.",
  query: schemas.watchQuery,
  responses: { 200: { description: "The changes, until the session ends", types: [EVENTS] } },
  problems: [404, 409, 410],
  handle: async ({ params, query, request }, context) => {
    const { id, files } = sessionOf({ request, params }, context);
    if (request.method === "HEAD") return new Response(null, { headers: { "content-type": EVENTS } });
    const { path = ".", recursive = false } = query;
    const opened = await withArguments(() => files.watch(path, { recursive }));
    // When the client disconnects before the first event is read, only the signal reports it.
    onAbort(request.signal, () => void opened.close());
    if (request.signal.aborted) await opened.close();
    const { sessions } = context.runtime;
    const whyEnded = (): string | undefined =>
      sessions.find(id) === undefined ? sessions.closed.get(id)?.why : undefined;
    return streamEvents((signal) => watchEvents(opened, signal, whyEnded), context);
  },
});

export const fileRoutes = [list, readFile, write, remove, rename, watch];

/** A file that changes all the time is sent as a whole. */
const MAX_ATTEMPTS = 3;

const PARTIAL = { status: 400, code: "PARTIAL_WRITE", detail: "A file is written as a whole: send no Content-Range" };

async function download(
  files: Files,
  path: string,
  read: RouteRequest<z.output<typeof schemas.fileQuery>>,
): Promise<Response> {
  const { headers, signal } = read.request;
  const wanted = headers.get("range");
  const attempts = wanted === null ? 0 : MAX_ATTEMPTS;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    // A range can be resolved only when the size is known, so the size is read first.
    const known = await files.open(path, { signal, length: 0 });
    known.close();
    const { size, version } = known;
    const isSame = [null, toETag(known), toLastModified(known)].includes(headers.get("if-range"));
    const range = isSame ? parseRange(wanted, size) : undefined;
    if (range === null) throw new ProblemError(noSuchRange(wanted ?? "", size));
    if (range === undefined) break;
    const { offset, length } = range;
    const file = await files.open(path, { signal, offset, length });
    if (file.version === version) {
      const span = `bytes ${offset}-${offset + length - 1}/${size}`;
      return toDownload(toContent(file, length), read, 206, { ...toHeaders(path, file), "content-range": span });
    }
    file.close(); // it has changed since
  }
  const file = await files.open(path, { signal });
  return toDownload(toContent(file, file.size), read, 200, toHeaders(path, file));
}

function toContent(file: OpenFile, sizeBytes: number): Download {
  return { sizeBytes, chunks: file.pieces, close: () => file.close() };
}

function toHeaders(path: string, file: OpenFile): Readonly<Record<string, string>> {
  return {
    "content-type": TYPES[/\.(?<end>\w+)$/.exec(path.toLowerCase())?.groups?.["end"] ?? ""] ?? BYTES,
    "content-disposition": toAttachment(path.split("/").at(-1) ?? ""),
    "last-modified": toLastModified(file),
    etag: toETag(file),
    "accept-ranges": "bytes",
  };
}

function toETag({ version }: OpenFile): string {
  return `"${version}"`;
}

function toLastModified({ modifiedAt }: OpenFile): string {
  return new Date(modifiedAt).toUTCString();
}

async function makeFolder(files: Files, path: string, signal: AbortSignal): Promise<Response> {
  const isNew = await files.makeFolder(path, { signal });
  return json(await files.stat(path, { signal }), isNew ? 201 : 200);
}

function noSuchRange(wanted: string, size: number): Problem {
  const detail = `There are no ${wanted.slice(0, 100)}: the file has ${size} bytes`;
  return { status: 416, code: "NO_SUCH_RANGE", detail, headers: { "content-range": `bytes */${size}` } };
}
