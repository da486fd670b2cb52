// Requests and responses about files of a session.

import { z } from "zod";
import { fileEntry, fileListing } from "../files.ts";
import { flag, wholeNumber } from "./parameters.ts";

/** A folder is listed; `stat` returns one entry. */
export const fileAnswer = z.union([fileListing, fileEntry]).meta({ id: "FileAnswer" });

const depth = wholeNumber.optional().describe("Levels of folders to list. Default: 1; at most 64");

export const listQuery = z.strictObject({ depth });

export const renameBody = z
  .strictObject({
    path: z.string().max(4000),
    to: z.string().max(4000).describe("A file there is replaced; missing folders are created"),
  })
  .meta({ id: "RenameRequest" });

export const watchQuery = z.strictObject({
  path: z.string().max(4000).optional().describe("A folder. Default: the working directory"),
  recursive: flag.optional().describe("Also below subfolders. Default: false"),
});

export const fileQuery = z.strictObject({
  depth,
  stat: flag.optional().describe("Return the entry of this name instead of the content; links are not followed"),
});
