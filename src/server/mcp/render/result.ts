// The result of a tool, before it is converted to the protocol's form.

import { formatCount } from "../../../util/text/format.ts";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { Task } from "../../../tasks/tasks.ts";
import { truncateText } from "../../../util/text/truncate-text.ts";

/** Of any result, unless the call requests more. */
export const DEFAULT_MAX_OUTPUT = 10_000;

export interface Image {
  readonly mimeType: "image/png" | "image/jpeg";
  readonly base64: string;
}

/** `Facts`: as in the output schema of the tool. */
export interface ToolResult<Facts = object> {
  /** Everything that a model needs to know. */
  readonly text: string;
  readonly images?: readonly Image[];
  /** Its output is linked as a resource. */
  readonly linkTo?: Task;
  readonly isError?: boolean;
  /** For programs: clients do not show it to a model. */
  readonly facts?: Facts;
  /** Additional fields of structured results. Called only when a client wants them. */
  readonly structured?: () => Partial<Facts>;
  /** The call continues as this task. Clients that support tasks get it instead of the text. */
  readonly task?: Task;
}

const META_KEY = "rlm-runtime/result";

/** Each note becomes a block after the text. */
export function toCallToolResult(
  answer: ToolResult,
  { isStructured, notes = [] }: { readonly isStructured: boolean; readonly notes?: readonly string[] },
): CallToolResult {
  const { text, images = [], linkTo, isError = false, facts, structured } = answer;
  const content: ContentBlock[] = [];
  for (const part of [text, ...notes]) if (part !== "") content.push({ type: "text", text: part });
  for (const { mimeType, base64 } of images) content.push({ type: "image", data: base64, mimeType });
  if (linkTo !== undefined) content.push(toLink(linkTo));
  const result: CallToolResult = { content };
  if (isError) result.isError = true;
  // An error without facts lacks the fields that the schema requires.
  if (isStructured && (facts !== undefined || !isError)) {
    result.structuredContent = toStructured(
      [text, ...notes].filter((part) => part !== "").join("\n"),
      facts,
      structured?.(),
    );
  }
  if (facts !== undefined) result._meta = { [META_KEY]: facts };
  return result;
}

/** Unknown values are omitted: not all clients understand nullable schemas. */
function toStructured(text: string, ...parts: readonly (object | undefined)[]): Record<string, unknown> {
  const entries = parts.flatMap((part) => Object.entries(part ?? {}));
  return { text, ...Object.fromEntries(entries.filter(([, value]) => value !== null && value !== undefined)) };
}

/** For texts of the server itself, such as listings. */
export function limitLength(text: string, hint = "ask for less"): string {
  return truncateText(text, { maxCharacters: DEFAULT_MAX_OUTPUT, hint: () => hint });
}

export function outputUri(taskId: string): string {
  return `rlm://output/${taskId}`;
}

function toLink(task: Task): ContentBlock {
  const { id, outputBytes } = task.info();
  const description = `all of the output, ${formatCount(outputBytes)} bytes`;
  return { type: "resource_link", uri: outputUri(id), name: id, description, mimeType: "text/plain" };
}
