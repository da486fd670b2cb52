// `rlm visualize`: opens the page of a server that runs, or of one that it starts until Ctrl-C.

import { createServer } from "node:net";
import { listRuns } from "../../store/runs/recorded-runs.ts";
import { EXIT } from "../exit-code.ts";
import type { LogArguments } from "../log/log-options.ts";
import { findServer } from "../remote/address.ts";
import { readPages } from "../remote/read-pages.ts";
import { runningServers } from "../remote/running-servers.ts";
import { withServer } from "../remote/with-server.ts";
import { DEFAULT_ADDRESS, describeToken } from "../serve/serve-until-signal.ts";
import { chooseRun } from "./choose-run.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { toLink } from "./page-link.ts";

export interface VisualizeArguments extends LogArguments {
  /** False: `--no-open`. */
  readonly open: boolean;
  readonly port?: number;
  readonly config?: string;
}

export async function visualize(name: string | undefined, options: VisualizeArguments): Promise<number> {
  const isRunning = Boolean(process.env["RLM_URL"]) || runningServers().length > 0;
  return isRunning ? visualizeRunning(name, options) : visualizeOwn(name, options);
}

async function visualizeRunning(name: string | undefined, { open }: VisualizeArguments): Promise<number> {
  const { url, token, tokenFrom } = findServer();
  const run = await withServer(async (runtime) => {
    if (name === undefined) return undefined;
    const runs = await readPages((page) => runtime.runs.list(page));
    return chooseRun(
      name,
      runs.map(({ id }) => id),
    );
  });
  process.stdout.write(await show({ url, run, token, tokenAt: `token from ${tokenFrom}`, open }));
  return EXIT.ok;
}

async function visualizeOwn(name: string | undefined, { open, port, ...rest }: VisualizeArguments): Promise<number> {
  const recorded = name === undefined ? [] : await listRuns();
  const run =
    name === undefined
      ? undefined
      : chooseRun(
          name,
          recorded.map(({ id }) => id),
        );
  const { serve } = await import("../serve/serve.ts");
  const flags = { logLevel: "warn", ...rest, host: DEFAULT_ADDRESS.host, port: port ?? (await freePort()) } as const;
  return serve(flags, async ({ url }, token) => {
    const shown = await show({ url, run, token: token.value, tokenAt: describeToken(token), open });
    return `listening ${url}\n${shown}Ctrl-C ends the server\n`;
  });
}

interface Shown {
  readonly url: string;
  readonly run: string | undefined;
  readonly token: string;
  /** Where the token is kept. */
  readonly tokenAt: string;
  readonly open: boolean;
}

/** Opens the page. Returns what to print: the link with the token is for a terminal only, as other output is kept in logs. */
async function show({ url, run, token, tokenAt, open }: Shown): Promise<string> {
  const link = toLink(url, { run, token });
  const isOpen = open && (await openInBrowser(link));
  const lines = process.stdout.isTTY ? [link] : [toLink(url, { run }), tokenAt];
  const intro = isOpen ? ["opened in the browser. If it does not show the page, open this link:"] : [];
  return [...intro, ...lines, ""].join("\n");
}

/** The default port if it is free, else 0. */
async function freePort(): Promise<number> {
  const { host, port } = DEFAULT_ADDRESS;
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(0));
    probe.listen(port, host, () => probe.close(() => resolve(port)));
  });
}
