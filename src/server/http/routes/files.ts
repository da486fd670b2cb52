// The working directory of a session, from outside. What a path really leads to is found out inside the sandbox.
//
// JSON is always about files, and never the content of one: that has another type whatever it holds.

import type { z } from "zod";
import { FileError } from "../../../errors.ts";
import { fileEntry, fileListing, type FileEntry } from "../../../protocol/files.ts";
import type { Files } from "../../../session/files/files.ts";
import { given } from "../../../util/omit-undefined.ts";
import { parseRange } from "../responses/byte-range.ts";
import { toAttachment, toDownload, type Download } from "../responses/download.ts";
import { toFilePath } from "../file-path.ts";
import { ProblemError, withArguments } from "../../net/problem.ts";
import { json, nothing, route, type Asked } from "../route.ts";
import * as schemas from "../../../protocol/api/files.ts";
import { sessionOf } from "./sessions.ts";

const TAG = "Files";
const FOLDER = "/v1/sessions/{id}/files";
const FILE = `${FOLDER}/{path+}`;
const BYTES = "application/octet-stream";
/** What a browser may be told without it running any of it. */
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

const list = route({
  method: "GET",
  path: FOLDER,
  tag: TAG,
  summary: "List the working directory",
  query: schemas.listQuery,
  answers: { 200: { description: "Sorted by name; links are not followed", schema: fileListing } },
  problems: [404, 410],
  handle: async ({ params, query, request: { signal } }, door) => {
    const { files } = sessionOf({ params }, door);
    return json(await withArguments(() => files.list(".", { ...given(query), signal })));
  },
});

const read = route({
  method: "GET",
  path: FILE,
  tag: TAG,
  summary: "The bytes of a file, or the list of a folder",
  description: "Files are never answered as `application/json`, so that a list cannot be taken for one.",
  query: schemas.fileQuery,
  headers: {
    range: "One range of bytes, as in `bytes=0-99`; several are answered with the whole",
    "if-range": "The `Last-Modified` of an earlier answer: the range only where the file is that still",
  },
  answers: {
    200: { description: "The file; a list or an entry as JSON", schema: schemas.fileAnswer, types: FILE_TYPES },
    206: { description: "The range that was asked for", types: FILE_TYPES },
  },
  problems: [404, 409, 410, 416],
  handle: async (asked, door) => {
    const { query, request } = asked;
    const { files } = sessionOf(asked, door);
    const path = toFilePath(request);
    const { signal } = request;
    if (query.stat === true) return json(await withArguments(() => files.stat(path, { signal })));
    try {
      return await withArguments(() => download(files, path, asked));
    } catch (error) {
      if (!(error instanceof FileError && error.reason === "is-a-folder")) throw error;
      const { depth } = query;
      return json(await withArguments(() => files.list(path, { ...given({ depth }), signal })));
    }
  },
});

const write = route({
  method: "PUT",
  path: FILE,
  tag: TAG,
  summary: "Make or replace a file with the body, as it comes",
  description:
    "Folders on the way are made. Others see the old content or the new, never a part of it; an upload that ends early leaves the old. " +
    "A path that ends in `/` makes a folder.",
  rawBody: { types: [BYTES], description: "The bytes; of any type" },
  answers: {
    200: { description: "It was there, and is replaced", schema: fileEntry },
    201: { description: "It is new", schema: fileEntry },
  },
  problems: [404, 409, 410, 507],
  handle: async (asked, door) => {
    const { request, wire } = asked;
    const { files } = sessionOf(asked, door);
    const path = toFilePath(request);
    if (request.headers.has("content-range")) throw new ProblemError(PARTIAL);
    const { signal } = request;
    if (path.endsWith("/")) return withArguments(() => makeFolder(files, path, signal));
    const wasThere = await withArguments(() => files.exists(path, { signal }));
    const entry: FileEntry = await wire.receive((content) => files.write(path, content, { signal }));
    return json(entry, wasThere ? 200 : 201);
  },
});

const remove = route({
  method: "DELETE",
  path: FILE,
  tag: TAG,
  summary: "Remove a file, a link, or a folder with all that is in it",
  answers: { 204: { description: "It is gone" } },
  problems: [404, 409, 410],
  handle: async (asked, door) => {
    const { files } = sessionOf(asked, door);
    await withArguments(() => files.remove(toFilePath(asked.request)));
    return nothing();
  },
});

export const fileRoutes = [list, read, write, remove];

const PARTIAL = { status: 400, code: "PARTIAL_WRITE", detail: "A file is written as a whole: send no Content-Range" };

async function download(
  files: Files,
  path: string,
  asked: Asked<z.output<typeof schemas.fileQuery>>,
): Promise<Response> {
  const { headers, signal } = asked.request;
  const wanted = headers.get("range");
  // What a range means depends on the size, so that is asked for first, and the bytes when it is known.
  let file = await files.open(path, { signal, ...(wanted !== null && { length: 0 }) });
  const { size, modifiedAt } = file;
  const told = {
    "content-type": TYPES[/\.(?<end>\w+)$/.exec(path.toLowerCase())?.groups?.["end"] ?? ""] ?? BYTES,
    "content-disposition": toAttachment(path.split("/").at(-1) ?? ""),
    "last-modified": new Date(modifiedAt).toUTCString(),
    "accept-ranges": "bytes",
  };
  const from = (one: typeof file, sizeBytes: number): Download => ({
    sizeBytes,
    pieces: one.pieces,
    close: () => one.close(),
  });
  if (wanted === null) return toDownload(from(file, size), asked, 200, told);
  file.close();
  const isSame = [null, told["last-modified"]].includes(headers.get("if-range"));
  const range = isSame ? parseRange(wanted, size) : undefined;
  if (range === null) throw new ProblemError(noSuchRange(wanted, size));
  const { offset, length } = range ?? { offset: 0, length: size };
  file = await files.open(path, { signal, offset, length });
  if (range === undefined) return toDownload(from(file, length), asked, 200, told);
  const place = `bytes ${offset}-${offset + length - 1}/${size}`;
  return toDownload(from(file, length), asked, 206, { ...told, "content-range": place });
}

async function makeFolder(files: Files, path: string, signal: AbortSignal): Promise<Response> {
  const isNew = await files.makeFolder(path, { signal });
  return json(await files.stat(path, { signal }), isNew ? 201 : 200);
}

function noSuchRange(wanted: string, size: number): ConstructorParameters<typeof ProblemError>[0] {
  const detail = `There are no ${wanted.slice(0, 100)}: the file has ${size} bytes`;
  return { status: 416, code: "NO_SUCH_RANGE", detail, headers: { "content-range": `bytes */${size}` } };
}
