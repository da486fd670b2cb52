// What `rlm serve` prints when it is ready: its address, three things to try, and facts about it.

import type { Runtime } from "../../runtime.ts";
import type { HTTPListener } from "../../server/net/listen.ts";
import type { Token } from "../../server/net/guards/token.ts";
import { describeTier } from "../io/describe-tier.ts";
import { programName } from "../io/program-name.ts";
import { toLink } from "../visualize/page-link.ts";
import { describeToken } from "./serve-until-signal.ts";

/** The first line is for programs, too. Ends with a newline. */
export function greeting(runtime: Runtime, { url }: HTTPListener, token: Token, warning: string | undefined): string {
  const report = runtime.report();
  const { name, tier, python } = report;
  const program = programName();
  const toTry = [
    `curl -s ${url}/process/interpreter/execute -H ${authorization(token)} -d '{"code":"print(6*7)"}'`,
    `${program} sessions open --id demo && ${program} sessions exec demo -c 'print(6*7)'`,
    `open ${toLink(url, process.stdout.isTTY ? { token: token.value } : {})} in a browser; every route is at ${url}/v1/docs`,
  ];
  return [
    `listening ${url}`,
    ...(process.stdout.isTTY ? ["", "Try one of these:", "", ...toTry, ""] : toTry),
    `environment ${name}, sandbox tier ${tier ?? "unknown"}, Python ${python?.version ?? "unknown"}`,
    ...describeTier(report),
    ...(warning === undefined ? [] : [warning]),
    describeToken(token),
    "",
  ].join("\n");
}

/** For a shell. The token itself is for a terminal only: other output is kept in logs, and read by others. */
function authorization({ value, path }: Token): string {
  if (process.stdout.isTTY) return quote(`Authorization: Bearer ${value}`);
  return `"Authorization: Bearer ${path === null ? "$RLM_TOKEN" : `$(cat ${quote(path)})`}"`;
}

/** Quotes a text for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
