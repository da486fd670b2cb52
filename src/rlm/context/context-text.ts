// A small context as text, for a model that is asked directly.

import { readFile, readRange } from "../../util/files/read-file.ts";
import type { FileRange } from "../../session/state/set-variable.ts";
import { isFiles, type ContextItem } from "./context-item.ts";

const MAX_BYTES = 1024 * 1024;
const HEAD_CHARACTERS = "---  ---\n\n\n".length;

/** About how long the text is, with the names of files. */
export function contextTextBytes({ bytes, value }: ContextItem): number {
  if (!isFiles(value)) return bytes;
  return value.reduce((sum, { name }) => sum + name.length + HEAD_CHARACTERS, bytes);
}

/** Files are read anew, as far as they are part of the context. Throws what the system says, and for a file that has grown large. */
export async function contextText({ name, bytes, value }: ContextItem): Promise<string> {
  if (isFiles(value)) {
    const files = await Promise.all(
      value.map(async ({ name: file, path, size, range, content }) => {
        return `--- ${file} ---\n${content?.toString("utf8") ?? (await readText(path, size, range))}`;
      }),
    );
    return files.join("\n\n");
  }
  if ("text" in value) return value.text;
  if ("json" in value) return `${name} = ${JSON.stringify(value.json)}`;
  return "file" in value ? readText(value.file, bytes, value.range) : "";
}

async function readText(path: string, size: number, range: FileRange | undefined): Promise<string> {
  const bytes = range ? await readRange(path, range.offset, range.length) : await readFile(path, size, MAX_BYTES);
  return bytes.toString("utf8");
}
