// Records the terminal picture of the documents: runs the built program in a pseudo-terminal and draws what it showed.
//
//   npm run recording                                  writes docs/images/terminal.svg
//   npm run recording -- --cast FILE                   also keeps the recording, as JSON
//
// Nothing is faked: keys are typed into a shell, and its output is drawn with the times at which it came. Waits of more than
// MAX_WAIT_MS are shortened, as asciinema does, so that a busy machine does not bore the reader.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DESCRIPTION, SCENARIO, TITLE } from "./scenario.mjs";
import { Screen } from "./screen.mjs";
import { toSVG } from "./svg.mjs";

const COLUMNS = 80;
const ROWS = 26;
const KEY_MS = 45;
const MAX_WAIT_MS = 1_200;
const PATIENCE_MS = 60_000;

const project = fileURLToPath(new URL("../..", import.meta.url));
process.chdir(project);
const castFile = process.argv[2] === "--cast" ? process.argv[3] : undefined;
const { status } = spawnSync(process.execPath, ["scripts/setup.mjs", "build"], { stdio: "inherit" });
if (status !== 0) process.exit(1);

const recording = { columns: COLUMNS, rows: ROWS, events: shorten(await record()) };
if (castFile !== undefined) writeFileSync(castFile, `${JSON.stringify(recording)}\n`);
const svg = toSVG(recording, { title: TITLE, description: DESCRIPTION });
mkdirSync("docs/images", { recursive: true });
writeFileSync("docs/images/terminal.svg", svg);
const seconds = (recording.events.at(-1)[0] / 1000).toFixed(1);
process.stderr.write(`wrote docs/images/terminal.svg: ${seconds} s, ${(svg.length / 1024).toFixed(0)} KiB\n`);

/** The output of the terminal: [milliseconds since the start, text]. */
async function record() {
  const home = mkdtempSync(join(tmpdir(), "rlm-recording-"));
  const bin = join(home, "bin");
  mkdirSync(bin);
  symlinkSync(join(project, "dist/cli.cjs"), join(bin, "rlm"));
  symlinkSync(process.execPath, join(bin, "node"));
  const shell = ["bash", "--norc", "--noprofile", "-i"];
  const terminal = spawn(
    existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3",
    ["tests/fixtures/in-terminal.py", String(COLUMNS), String(ROWS), "env", `--chdir=${home}`, ...shell],
    {
      stdio: ["pipe", "pipe", "inherit"],
      // Nothing of this machine: no name, no path, no configuration.
      env: {
        PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
        HOME: home,
        TERM: "xterm-256color",
        LANG: "C.UTF-8",
        PS1: String.raw`\[\e[32m\]$\[\e[0m\] `,
      },
    },
  );
  try {
    const events = [];
    const screen = new Screen(COLUMNS, ROWS);
    const started = performance.now();
    let wake = () => {};
    terminal.stdout.setEncoding("utf8").on("data", (text) => {
      events.push([Math.round(performance.now() - started), text]);
      screen.write(text);
      wake();
    });
    for (const { type = "", until, pause } of SCENARIO) {
      for (const key of type) {
        terminal.stdin.write(key);
        await sleep(KEY_MS);
      }
      const late = AbortSignal.timeout(PATIENCE_MS);
      late.addEventListener("abort", () => wake());
      const isShown = () => until === undefined || until.test(screen.textBeforeCursor);
      while (!isShown()) {
        if (late.aborted) throw new Error(`nothing matches ${until} after "${type}":\n${screen.text}`);
        await new Promise((resolve) => (wake = resolve));
      }
      await sleep(pause);
    }
    return events;
  } finally {
    terminal.kill("SIGTERM");
    await new Promise((resolve) => terminal.on("close", resolve));
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function shorten(events) {
  let [cut, previous] = [0, 0];
  return events.map(([time, text]) => {
    cut += Math.max(0, time - previous - MAX_WAIT_MS);
    previous = time;
    return [time - cut, text];
  });
}
