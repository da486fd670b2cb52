// Which tools a server offers to MCP clients, as the user says it.

import { selectTools } from "../../server/mcp/tools/select-tools.ts";
import type { MCPTool } from "../../server/mcp/tools/tool.ts";
import { UsageError } from "../options/usage-error.ts";

/** `whyNoModel`: undefined where there is one. `said`: where the choice was made. Throws a UsageError that lists what there is. */
export function chooseTools(choice: string, whyNoModel: string | undefined, said = "--tools"): readonly MCPTool[] {
  try {
    return selectTools(choice, whyNoModel);
  } catch (error) {
    throw new UsageError(`${said}: ${(error as Error).message}`);
  }
}
