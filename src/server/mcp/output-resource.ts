// The output of tasks as resources, in pages.

import { ResourceNotFoundError, type McpServer } from "@modelcontextprotocol/server";
import { TaskNotFoundError } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { Task } from "../../tasks/tasks.ts";
import { outputUri } from "./render/result.ts";
import { pageOutput } from "../../util/text/truncate.ts";
import { taskSource } from "./render/output.ts";

const MAX_CHARACTERS = 100_000;
const TEMPLATE = {
  uriTemplate: "rlm://output/{task_id}{?offset}",
  name: "output",
  title: "Output of a task",
  description: "What a task printed, 100,000 characters at a time",
  mimeType: "text/plain",
};

export function serveOutput(server: McpServer["server"], runtime: Runtime): void {
  server.setRequestHandler("resources/list", () => ({ resources: [] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [TEMPLATE] }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const { task, offset } = find(runtime, uri);
    const { text, nextOffset } = pageOutput(taskSource(task), { offset, maxCharacters: MAX_CHARACTERS });
    const more = nextOffset === null ? "" : `\n[more: ${outputUri(task.id)}?offset=${nextOffset}]`;
    return { contents: [{ uri, mimeType: "text/plain", text: text + more }] };
  });
}

const URI = /^rlm:\/\/output\/(?<id>[\w.-]{1,100})(?:\?offset=(?<offset>\d{1,15}))?$/;

function find(runtime: Runtime, uri: string): { readonly task: Task; readonly offset: number } {
  const { id = "", offset = "0" } = URI.exec(uri)?.groups ?? {};
  try {
    return { task: runtime.tasks.get(id), offset: Number(offset) };
  } catch (error) {
    if (error instanceof TaskNotFoundError) throw new ResourceNotFoundError(uri);
    throw error;
  }
}
