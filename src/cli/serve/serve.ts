// `rlm serve`: serves the runtime over HTTP until a signal.

import { StartJournal } from "../../server/context/start-journal.ts";
import { createServerContext } from "../../server/create-context.ts";
import { createApp } from "../../server/http/app.ts";
import { listen, type HTTPListener } from "../../server/net/listen.ts";
import { ServerLog } from "../../server/observability/server-log.ts";
import { Shutdown } from "../../server/shutdown.ts";
import { connectObservers } from "../../server/observability/observer.ts";
import { WebSockets } from "../../server/ws/web-sockets.ts";
import type { Token } from "../../server/net/guards/token.ts";
import { openRuntime } from "../../runtime.ts";
import { linkMounts, resolveMounts } from "../../environments/mounts.ts";
import { dataFolder, dataPath, describeDataFolder } from "../../util/data-folder.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { VERSION } from "../../util/version.ts";
import { readConfig } from "../options/read-config.ts";
import { noteServer } from "../remote/running-servers.ts";
import { greeting } from "./greeting.ts";
import { findModel } from "./mcp-model.ts";
import { planFiles } from "./open-files.ts";
import { logProcess } from "../log/log-runtime.ts";
import { openLogAt } from "../log/open-log.ts";
import { toServeSettings, type ServeArguments } from "./serve-settings.ts";
import { serveUntilSignal } from "./serve-until-signal.ts";

/** What is printed when the server is ready. Default: its address, and things to try. */
type Greet = (listening: HTTPListener, token: Token) => Promise<string>;

export async function serve(flags: ServeArguments, greet?: Greet): Promise<number> {
  const config = readConfig({ path: flags.config });
  const settings = toServeSettings(flags, config);
  const model = findModel(config, "there are no runs");
  const { address, allowedOrigins, graceMs, executions, sessionDefaults } = settings;
  const { logLevel: level, logFormat: format } = settings;
  const mounts = resolveMounts(settings.runtime.mounts ?? [], settings.runtime.environment ?? config.rlm.environment);
  const { tools: chosen, isStructured } = settings.mcp;
  const whyNoModel = "whyNot" in model ? model.whyNot : undefined;
  // Without a choice to check, all tools are offered, and they are loaded with the first message.
  const tools = chosen && (await import("./choose-tools.ts")).chooseTools(chosen.choice, whyNoModel, chosen.source);
  const log = openLogAt(flags.logFile, { level, format });
  let hasStarted = false;
  let noted: Disposable | undefined;
  const logIfStarted: typeof log.write = (...line) => {
    if (hasStarted) log.write(...line);
  };
  try {
    const { limits, ...rest } = settings.runtime;
    const files = planFiles(limits, settings.listen.maxConnections);
    // Resolved mounts: code that can write to a mounted folder must not redirect a link to which another mount leads.
    const runtimeOptions = { ids: "random", ...rest, mounts, limits: { ...limits, ...files.limits } } as const;
    await using runtime = await openRuntime(runtimeOptions);
    const shutdown = new Shutdown();
    const lines = new ServerLog(log);
    const onUnexpected = (error: unknown): void => lines.unexpected(error);
    const { env: sessionEnv } = sessionDefaults;
    const mcp = { mounts, isStructured, onUnexpected, ...omitUndefined({ tools, sessionEnv }) };
    const parts = { model, mcp, executions, sessionDefaults, ...settings.runs };
    const journal = openJournal((what) => log.write("warn", "journal-lost", { what }));
    const context = createServerContext(runtime, { ...shutdown.signals, ...parts, ...omitUndefined({ journal }) });
    runtime.onProcess = (event) => logProcess(event, log);
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
        noted = tryToNote(listening, token, (what) => log.write("warn", "server-not-noted", { what }));
        log.write("info", "server-start", { url: listening.url, version: VERSION, pid: process.pid });
        for (const what of linkMounts(mounts).problems) log.write("warn", "mount-not-linked", { what });
        if (files.warning !== undefined) log.write("warn", "few-open-files", { what: files.warning });
        return greet?.(listening, token) ?? greeting(runtime, listening, token, files.warning);
      },
      end: async (listening) => {
        noted?.[Symbol.dispose]();
        logIfStarted("info", "server-drain", { graceMs, executions: context.executions.running });
        await shutdown.run(context, listening, graceMs);
      },
    });
  } finally {
    logIfStarted("info", "server-end");
    await log.end();
  }
}

/** Without a note, commands find this server only by RLM_URL. */
function tryToNote({ url }: HTTPListener, { path }: Token, onProblem: (why: string) => void): Disposable | undefined {
  try {
    return noteServer({ url, hasStoredToken: path !== null });
  } catch (error) {
    onProblem(`commands such as rlm sessions need RLM_URL to find it: ${(error as Error).message}`);
    return undefined;
  }
}

/** Undefined: it has no folder; retries after a restart then start their work again. */
function openJournal(onProblem: (why: string) => void): StartJournal | undefined {
  const folder = dataFolder("server");
  if (folder === undefined) onProblem(`${dataPath("server")} cannot be used: ${describeDataFolder("server")}`);
  return folder === undefined ? undefined : StartJournal.open(folder, { onProblem });
}
