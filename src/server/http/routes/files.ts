// The working directory of a session. Paths are resolved inside the sandbox.
//
// A JSON response is always about files: the content of a file has another media type, whatever it is.

import type { z } from "zod";
import { FileError } from "../../../errors.ts";
import { fileEntry, fileListing, type FileEntry } from "../../../protocol/files.ts";
import type { Files } from "../../../session/files/files.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { parseRange } from "../responses/byte-range.ts";
import { toAttachment, toDownload, type Download } from "../responses/download.ts";
import { toFilePath } from "../file-path.ts";
import { ProblemError, withArguments, type Problem } from "../../net/problem.ts";
import { BYTES, json, noContent, routesTagged, type RouteRequest } from "../route.ts";
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
  handle: async ({ params, query, request: { signal } }, context) => {
    const { files } = sessionOf({ params }, context);
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
    "if-range": "The `Last-Modified` of an earlier response: the range only if the file is unchanged",
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
    const { files } = sessionOf({ params }, context);
    const path = toFilePath(request);
    if (request.headers.has("content-range")) throw new ProblemError(PARTIAL);
    const { signal } = request;
    if (path.endsWith("/")) return withArguments(() => makeFolder(files, path, signal));
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
    const { files } = sessionOf({ params }, context);
    await withArguments(() => files.remove(toFilePath(request)));
    return noContent();
  },
});

export const fileRoutes = [list, readFile, write, remove];

const PARTIAL = { status: 400, code: "PARTIAL_WRITE", detail: "A file is written as a whole: send no Content-Range" };

async function download(
  files: Files,
  path: string,
  read: RouteRequest<z.output<typeof schemas.fileQuery>>,
): Promise<Response> {
  const { headers, signal } = read.request;
  const wanted = headers.get("range");
  // A range can be resolved only when the size is known, so the size is read first.
  let file = await files.open(path, { signal, ...(wanted !== null && { length: 0 }) });
  const { size, modifiedAt } = file;
  const common = {
    "content-type": TYPES[/\.(?<end>\w+)$/.exec(path.toLowerCase())?.groups?.["end"] ?? ""] ?? BYTES,
    "content-disposition": toAttachment(path.split("/").at(-1) ?? ""),
    "last-modified": new Date(modifiedAt).toUTCString(),
    "accept-ranges": "bytes",
  };
  const from = (one: typeof file, sizeBytes: number): Download => ({
    sizeBytes,
    chunks: one.pieces,
    close: () => one.close(),
  });
  if (wanted === null) return toDownload(from(file, size), read, 200, common);
  file.close();
  const isSame = [null, common["last-modified"]].includes(headers.get("if-range"));
  const range = isSame ? parseRange(wanted, size) : undefined;
  if (range === null) throw new ProblemError(noSuchRange(wanted, size));
  const { offset, length } = range ?? { offset: 0, length: size };
  file = await files.open(path, { signal, offset, length });
  if (range === undefined) return toDownload(from(file, length), read, 200, common);
  const span = `bytes ${offset}-${offset + length - 1}/${size}`;
  return toDownload(from(file, length), read, 206, { ...common, "content-range": span });
}

async function makeFolder(files: Files, path: string, signal: AbortSignal): Promise<Response> {
  const isNew = await files.makeFolder(path, { signal });
  return json(await files.stat(path, { signal }), isNew ? 201 : 200);
}

function noSuchRange(wanted: string, size: number): Problem {
  const detail = `There are no ${wanted.slice(0, 100)}: the file has ${size} bytes`;
  return { status: 416, code: "NO_SUCH_RANGE", detail, headers: { "content-range": `bytes */${size}` } };
}
