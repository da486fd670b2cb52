// `rlm serve`: serves the runtime over HTTP until a signal.

import { loadConfig } from "../../config/config.ts";
import { StartJournal } from "../../server/context/start-journal.ts";
import { createServerContext } from "../../server/create-context.ts";
import { createApp } from "../../server/http/app.ts";
import { listen, type HTTPListener } from "../../server/net/listen.ts";
import { ServerLog } from "../../server/observability/server-log.ts";
import { Shutdown } from "../../server/shutdown.ts";
import { connectObservers } from "../../server/observability/observer.ts";
import { WebSockets } from "../../server/ws/web-sockets.ts";
import type { Token } from "../../server/net/guards/token.ts";
import { openRuntime, type Runtime } from "../../runtime.ts";
import { resolveMounts } from "../../environments/mounts.ts";
import { DEFAULT_ENVIRONMENT } from "../../environments/registry.ts";
import { dataFolder } from "../../util/data-folder.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { VERSION } from "../../util/version.ts";
import { describeTier } from "../io/describe-tier.ts";
import { findModel } from "./mcp-model.ts";
import { planFiles } from "./open-files.ts";
import { openLogAt } from "./open-log.ts";
import { toServeSettings, type ServeArguments } from "./serve-settings.ts";
import { serveUntilSignal, describeToken } from "./serve-until-signal.ts";

export async function serve(flags: ServeArguments): Promise<number> {
  const config = loadConfig({ cwd: process.cwd(), env: process.env, ...omitUndefined({ path: flags.config }) });
  const settings = toServeSettings(flags, config);
  const model = findModel("there are no runs", flags.config);
  const { address, allowedOrigins, graceMs, executions, sessionDefaults } = settings;
  const { logLevel: level, logFormat: format } = settings;
  const mounts = resolveMounts(settings.runtime.mounts ?? [], DEFAULT_ENVIRONMENT);
  const { tools: chosen, isStructured } = settings.mcp;
  const whyNoModel = "whyNot" in model ? model.whyNot : undefined;
  // Without a choice to check, all tools are offered, and they are loaded with the first message.
  const tools = chosen && (await import("./choose-tools.ts")).chooseTools(chosen.choice, whyNoModel, chosen.source);
  const log = openLogAt(flags.logFile, { level, format });
  let hasStarted = false;
  const logIfStarted: typeof log.write = (...line) => {
    if (hasStarted) log.write(...line);
  };
  try {
    const { limits, ...rest } = settings.runtime;
    const files = planFiles(limits, settings.listen.maxConnections);
    await using runtime = await openRuntime({ ids: "random", ...rest, limits: { ...limits, ...files.limits } });
    const shutdown = new Shutdown();
    const lines = new ServerLog(log);
    const onUnexpected = (error: unknown): void => lines.unexpected(error);
    const mcp = { mounts, isStructured, onUnexpected, ...omitUndefined({ tools }) };
    const parts = { model, mcp, executions, sessionDefaults, ...settings.runs };
    const journal = openJournal((what) => log.write("warn", "journal-lost", { what }));
    const context = createServerContext(runtime, { ...shutdown.signals, ...parts, ...omitUndefined({ journal }) });
    const observed = connectObservers(context, [context.metrics, lines]);
    return await serveUntilSignal(address, {
      listen: ({ host, port, ...guard }) => {
        const app = createApp(context, { ...guard, ...observed, allowedOrigins, limits: settings.limits });
        const { onMalformed, onCut } = observed;
        const upgrader = new WebSockets(context, { token: guard.token, onUnexpected: observed.onUnexpected, onCut });
        context.metrics.websockets = () => upgrader;
        const { maxConnections } = files;
        return listen(app, { host, port, ...settings.listen, maxConnections, onMalformed, onCut, upgrader });
      },
      greet: async (listening, token) => {
        await runtime.warm();
        hasStarted = true;
        log.write("info", "server-start", { url: listening.url, version: VERSION, pid: process.pid });
        if (files.warning !== undefined) log.write("warn", "few-open-files", { what: files.warning });
        return greeting(runtime, listening, token, files.warning);
      },
      end: async (listening) => {
        logIfStarted("info", "server-drain", { graceMs, executions: context.executions.running });
        await shutdown.run(context, listening, graceMs);
      },
    });
  } finally {
    logIfStarted("info", "server-end");
    await log.end();
  }
}

function greeting(runtime: Runtime, { url }: HTTPListener, token: Token, warning: string | undefined): string {
  const report = runtime.report();
  const { name, tier, python } = report;
  return [
    `listening ${url}`,
    `curl -s ${url}/process/interpreter/execute -H ${authorization(token)} -d '{"code":"print(6*7)"}'`,
    `every route: ${url}/v1/docs`,
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

/** Undefined: it has no folder; retries after a restart then start their work again. */
function openJournal(onProblem: (why: string) => void): StartJournal | undefined {
  const folder = dataFolder("server");
  if (folder === undefined)
    onProblem("the folder 'server' in the data folder cannot be made, or others can write to it");
  return folder === undefined ? undefined : StartJournal.open(folder, { onProblem });
}
