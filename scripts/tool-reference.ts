// Generates the page about the MCP tools from their definitions.

import { toInstructions } from "../src/server/mcp/instructions.ts";
import { GROUPS, type Annotations, type MCPTool, type ToolGroup } from "../src/server/mcp/tools/tool.ts";
import { ALL_TOOLS } from "../src/server/mcp/tools/select-tools.ts";

const HEADINGS: Readonly<Record<ToolGroup, string>> = {
  sandbox: "Python with state, and its variables",
  sessions: "sessions, saved and kept things",
  repl: "Python by the names that other servers use",
  shell: "commands and tasks",
  rlm: "questions to a model",
};

export function toToolReference(): string {
  const intro = `# The MCP tools

<!-- Made by \`node scripts/tool-reference.mjs\` from the definitions in src/server/mcp/tools/; not edited by hand. -->

What a client is told by \`rlm mcp-serve\`; [mcp.md](mcp.md) says what happens around it. The groups are names for \`--tools\`. \`rlm_query\`
(group \`rlm\`) is offered where a model is configured when the server starts.

Instructions for the model:

> ${toInstructions({
    capabilities: { shell: true, network: "none" },
    tools: ALL_TOOLS.map(({ listing }) => listing.name),
    hasFiles: true,
    isShared: false,
  })}
`;
  return [intro, ...GROUPS.flatMap(toGroup)].join("\n");
}

function toGroup(group: ToolGroup): string[] {
  const tools = ALL_TOOLS.filter((tool) => tool.group === group);
  return tools.length === 0 ? [] : [`## ${group}: ${HEADINGS[group]}\n`, ...tools.map(toSection)];
}

function toSection({ listing }: MCPTool): string {
  const { name, description, inputSchema, annotations, _meta } = listing;
  const { properties, required = [] } = inputSchema;
  const names = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
  const rows = Object.entries(properties).map(
    ([key, property]) =>
      `| \`${key}\` | ${property.type}${toBounds(property)} | ${toMeaning(key, property, required)} |`,
  );
  const table = rows.length === 0 ? "" : `\n| parameter | type | |\n|---|---|---|\n${rows.join("\n")}\n`;
  const core = _meta === undefined ? "" : " One of the three core tools.";
  return `### \`${name}(${names.join(", ")})\`\n\n${description} ${toHints(annotations)}${core}\n${table}`;
}

function toBounds({ minimum, maximum }: { readonly minimum?: number; readonly maximum?: number }): string {
  if (minimum === undefined) return "";
  return maximum === undefined ? `, from ${minimum}` : `, ${minimum} to ${maximum}`;
}

function toMeaning(
  key: string,
  { description = "" }: { readonly description?: string },
  required: readonly string[],
): string {
  return [required.includes(key) ? "required" : "", description].filter((text) => text !== "").join("; ");
}

function toHints({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: Annotations): string {
  if (readOnlyHint === true) return "*Only reads.*";
  if (idempotentHint === true) return "*May end or remove something; a second time changes nothing.*";
  if (openWorldHint) return "*Runs code, and sends what it is given to a provider of models.*";
  return destructiveHint === false ? "*Adds.*" : "*Runs code.*";
}
