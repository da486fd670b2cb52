// `rlm repl`: a console on a session, on a terminal or a pipe.

import { setTimeout as delay } from "node:timers/promises";
import { openRuntime, type Runtime } from "../../runtime.ts";
import type { SessionOptions } from "../../session/options.ts";
import { deferred } from "../../util/async/deferred.ts";
import { dataFolder, dataPath } from "../../util/data-folder.ts";
import { seatBeltWarning } from "../../views/seat-belt.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { VERSION } from "../../util/version.ts";
import { EXIT } from "../exit-code.ts";
import {
  namingPython,
  toRuntimeOptions,
  toSessionOptions,
  toTimeoutMs,
  type SessionArguments,
} from "../exec/session-settings.ts";
import { readSource } from "../exec/read-source.ts";
import { Console } from "./console.ts";
import { HistoryFile } from "./history-file.ts";
import { Images } from "./display/images.ts";
import { Palette } from "../io/palette.ts";
import { PlainReader } from "./plain-reader.ts";
import type { Reader } from "./reader.ts";
import { ConsoleOutput } from "./display/console-output.ts";
import { TerminalReader } from "./terminal-reader.ts";
import { listenForSignals } from "../io/signal-handler.ts";
import { openWithFile, saveToFile } from "../exec/session-file.ts";
import { openInFolder, reportLinks, toSessionPath } from "../exec/working-directory.ts";
import { readConfig } from "../options/read-config.ts";

/** Time to save the state after a signal. */
const SAVE_MS = 5000;

export async function repl(file: string | undefined, options: SessionArguments): Promise<number> {
  const config = readConfig({ path: options.config, isDotEnvOptional: true });
  const source = file === undefined ? undefined : await readSource(undefined, [file]);
  const runtimeOptions = toRuntimeOptions(options, config);
  const { mounts = [] } = runtimeOptions;
  const cwd = options.cwd === undefined ? undefined : toSessionPath(options.cwd, mounts);
  reportLinks(mounts);
  await using runtime = await openRuntime({
    poolSize: 0,
    preload: [],
    idleTimeoutMs: null,
    ...runtimeOptions,
  });
  options.log.observe(runtime);
  const own = toSessionOptions({ ...options, ...omitUndefined({ cwd }) }, config);
  const sessionOptions: SessionOptions = {
    ...own,
    idleTimeoutMs: null,
    autoCheckpoint: runtime.report().capabilities.checkpoint,
  };
  const open = () => openInFolder(cwd, () => openWithFile(runtime, options.sessionFile, sessionOptions));
  const session = await namingPython(options, config, open);
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.env["TERM"] !== "dumb";
  const palette = new Palette(isTerminal && !process.env["NO_COLOR"]);
  const history = new HistoryFile(isTerminal ? dataFolder("repl") : undefined);
  using reader: Reader = isTerminal ? new TerminalReader(palette, history.entries) : new PlainReader();
  const images = new Images(process.env, dataFolder("figures"), reader.queryAttributes?.bind(reader));
  const output = new ConsoleOutput(reader, palette, images);
  const timeoutMs = toTimeoutMs(options, config);
  const replConsole = new Console({ runtime, session, sessionOptions, timeoutMs, reader, output, history });
  if (reader.isTerminal) greet(runtime, output);
  if (reader.isTerminal && !history.isKept) output.notice(notKept());
  const { promise: ended, resolve: end } = deferred<number>();
  reader.onEnd = () => end(EXIT.hungUp);
  using _ = listenForSignals({
    // Ctrl-C interrupts code. If none runs and there is no terminal, it ends the console.
    SIGINT: () => replConsole.interrupt() || reader.isTerminal || end(EXIT.cancelled),
    SIGTERM: () => end(EXIT.ended),
    SIGHUP: () => end(EXIT.hungUp),
  });
  const serve = async (): Promise<number> => {
    if (source !== undefined) await replConsole.run(source.code, file);
    await replConsole.serve();
    return EXIT.ok;
  };
  const code = await Promise.race([ended, serve()]);
  replConsole.interrupt();
  await Promise.race([saveToFile(replConsole.session, options.sessionFile), ended.then(() => delay(SAVE_MS))]);
  return code;
}

function notKept(): string {
  return `The history is not kept: ${dataPath("repl")} cannot be written. Set RLM_DATA to another folder.`;
}

function greet(runtime: Runtime, output: ConsoleOutput): void {
  const report = runtime.report();
  const { tier, python } = report;
  output.notice(
    `rlm ${VERSION}, Python ${python?.version ?? "unknown"}, sandbox tier ${tier ?? "unknown"}. :help lists commands, Ctrl-D leaves.`,
  );
  const warning = seatBeltWarning(report);
  if (warning !== undefined) output.notice(warning);
}
