// Files of a session, as they are told.

import { z } from "zod";
import { flag, wholeNumber } from "./common.ts";

export const fileEntry = z
  .strictObject({
    name: z.string(),
    path: z.string().describe("Relative to the working directory; `.` for the directory itself"),
    type: z.enum(["file", "folder", "link", "other"]),
    size: z.int().describe("In bytes; 0 for all but files"),
    modifiedAt: z.iso.datetime(),
    mode: z.int().describe("Permission bits"),
    target: z.string().optional().describe("What a link says; it may lead anywhere"),
  })
  .meta({ id: "FileEntry" });

export const fileListing = z
  .strictObject({ entries: z.array(fileEntry), omitted: z.int().describe("How many more there are") })
  .meta({ id: "FileListing" });

/** A folder is listed, and `stat` asks for one entry. */
export const fileAnswer = z.union([fileListing, fileEntry]).meta({ id: "FileAnswer" });

const depth = wholeNumber.optional().describe("Folders in folders, so many levels deep. Default: 1; 64 at most");

export const listQuery = z.strictObject({ depth });

export const fileQuery = z.strictObject({
  depth,
  stat: flag.optional().describe("Answer with what is known of the name; a link is not followed"),
});
