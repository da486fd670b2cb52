// Files in the working directory of a session.

import { z } from "zod";
import type { Shape } from "./shape.ts";

export const fileKind = z
  .enum(["file", "folder", "link", "other"])
  .describe("`other`: a named pipe, a socket or a device");
export type FileKind = Shape<typeof fileKind>;

export const fileEntry = z
  .object({
    name: z
      .string()
      .describe(
        "Bytes that are not UTF-8 are lone surrogates (U+DC80 to U+DCFF), as in Python, and stand for the same bytes in requests",
      ),
    path: z.string().describe("Relative to the working directory; `.` for the directory itself"),
    type: fileKind,
    size: z.int().describe("In bytes; 0 for anything but files"),
    modifiedAt: z.iso.datetime().describe("When its content last changed"),
    mode: z.int().describe("Permission bits"),
    target: z.string().exactOptional().describe("The unchecked target of a link. Absent for anything but links"),
  })
  .meta({ id: "FileEntry", description: "One name in the working directory" });
export type FileEntry = Shape<typeof fileEntry>;

export const fileListing = z
  .object({
    entries: z.array(fileEntry).describe("Sorted by path"),
    omitted: z.int().describe("The number of entries beyond the limit"),
  })
  .meta({ id: "FileListing", description: "What a folder contains" });
export type FileListing = Shape<typeof fileListing>;

const changedPath = z.string().describe("Relative to the working directory");

export const fileChange = z
  .discriminatedUnion("type", [
    z.object({
      type: z.enum(["created", "modified", "removed", "overflow"]).describe("What happened"),
      path: changedPath,
    }),
    z.object({ type: z.literal("renamed"), path: changedPath, from: z.string().describe("The path before") }),
  ])
  .describe("A change to a name. `overflow`: changes below `path` were missed; list it again");
export type FileChange = Shape<typeof fileChange>;
