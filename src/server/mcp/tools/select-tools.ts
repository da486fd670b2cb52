// All tools, and the selection that a server offers.

import { workFacts } from "../output-schema.ts";
import { REPL_TOOLS } from "./repl.ts";
import { RLM_TOOLS } from "./rlm.ts";
import { SANDBOX_TOOLS } from "./sandbox.ts";
import { SESSION_TOOLS } from "./sessions.ts";
import { SHELL_TOOLS } from "./shell.ts";
import { STDLIB_TOOLS } from "./stdlib.ts";
import { GROUPS, type MCPTool } from "./tool.ts";

const CORE = ["execute_python", "shell", "shell_status"];
/** Reads the output of all other tools. */
const READER = "shell_status";
const BY_GROUP = [...SANDBOX_TOOLS, ...SESSION_TOOLS, ...STDLIB_TOOLS, ...REPL_TOOLS, ...SHELL_TOOLS, ...RLM_TOOLS];

/** In listing order: the most used first. */
export const ALL_TOOLS: readonly MCPTool[] = [...BY_GROUP.filter(isCore), ...BY_GROUP.filter((tool) => !isCore(tool))];

/**
 * `core`, `all`, or names of tools and groups, separated by commas. `shell_status` is added when any selected tool needs it. Throws a
 * RangeError that lists the choices. `whyNoModel`: no model is configured; `all` is then what works without one, and selecting `rlm_query`
 * throws with this reason.
 */
export function selectTools(choice: string, whyNoModel?: string): readonly MCPTool[] {
  const offered = whyNoModel === undefined ? ALL_TOOLS : ALL_TOOLS.filter(({ group }) => group !== "rlm");
  const wanted = new Set<MCPTool>();
  for (const part of choice.split(",").map((text) => text.trim())) {
    const found = offered.filter((tool) => isMeant(tool, part));
    if (found.length === 0 && whyNoModel !== undefined && ALL_TOOLS.some((tool) => isMeant(tool, part)))
      throw new RangeError(`There is no tool '${part}': it needs a model to ask, and ${whyNoModel}`);
    if (found.length === 0) throw new RangeError(`There is no tool '${part}': ${describeChoices()}`);
    for (const tool of found) wanted.add(tool);
  }
  const isRead = [...wanted].some(({ output }) => output === workFacts);
  return offered.filter((tool) => wanted.has(tool) || (isRead && tool.listing.name === READER));
}

function isMeant(tool: MCPTool, part: string): boolean {
  if (part === "all") return true;
  return part === "core" ? isCore(tool) : part === tool.listing.name || part === tool.group;
}

function isCore({ listing }: MCPTool): boolean {
  return CORE.includes(listing.name);
}

function describeChoices(): string {
  return `choose core, all, a group (${GROUPS.join(", ")}), or names: ${ALL_TOOLS.map(({ listing }) => listing.name).join(", ")}`;
}
