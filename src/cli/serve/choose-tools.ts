// --tools: which tools a server offers to MCP clients.

import { selectTools } from "../../server/mcp/tools/select-tools.ts";
import type { MCPTool } from "../../server/mcp/tools/tool.ts";
import { UsageError } from "../options/usage-error.ts";

/** `whyNoModel`: undefined if a model is configured. `source`: the flag or key with the choice. Throws a UsageError that lists the tools. */
export function chooseTools(choice: string, whyNoModel: string | undefined, source = "--tools"): readonly MCPTool[] {
  try {
    return selectTools(choice, whyNoModel);
  } catch (error) {
    throw new UsageError(`${source}: ${(error as Error).message}`);
  }
}
