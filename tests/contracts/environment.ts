// What every environment promises. Each one runs this suite. A case that needs a capability the environment does not
// declare is skipped with the reason, and its absence is checked instead.

import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Capabilities } from "../../src/protocol/capabilities.ts";
import type {
  AskForFork,
  Environment,
  ProgramExit,
  ProgramSpec,
  Sandbox,
  SandboxOptions,
  WorkerExit,
} from "../../src/environments/environment.ts";
import { WorkerLostError } from "../../src/errors.ts";
import type { OutputStream } from "../../src/protocol/execution.ts";
import { DEFAULT_LIMITS } from "../../src/session/default-limits.ts";
import { COMMAND_LINES } from "../open.ts";
import { uniqueSleep } from "../hostile/probe.ts";

export interface EnvironmentContract {
  readonly open: () => Environment;
  /** What it must declare, and no more. */
  readonly capabilities: Capabilities;
}

export const PLAIN: SandboxOptions = { mounts: [], limits: DEFAULT_LIMITS };

/** Talks to a worker without a kernel: what it has sent so far, and a way to wait for more. */
export function converse(sandbox: Sandbox) {
  const received = { events: "", stdout: "", stderr: "", background: "", exit: undefined as WorkerExit | undefined };
  let wake: () => void = () => {};
  sandbox.worker.listen({
    onEvents: (buffer, length) => {
      const text = buffer.toString("utf8", 0, length);
      received.events += text;
      for (const [, call] of text.matchAll(/"type":"order"[^\n]*"call":(\d+)/g)) {
        sandbox.worker.aside(JSON.stringify({ id: "", cmd: "reply", call: Number(call), value: null }));
      }
      wake();
    },
    onOutput: (stream: OutputStream, chunk: Buffer) => {
      received[stream] += chunk.toString();
      wake();
    },
    onBackground: (_, chunk) => {
      received.background += chunk.toString();
      wake();
    },
    onExit: (exit) => {
      received.exit = exit;
      wake();
    },
  });
  const until = async (fits: (now: typeof received) => boolean): Promise<void> => {
    while (!fits(received)) await new Promise<void>((resolve) => (wake = resolve));
  };
  const exec = async (id: string, code: string): Promise<void> => {
    sandbox.worker.command(JSON.stringify({ id, cmd: "exec", count: 1, code }));
    await until(({ events, exit }) => events.includes(`"type":"status","id":"${id}"`) || exit !== undefined);
    sandbox.worker.drain();
  };
  const askForFork: AskForFork = async (branch) => {
    sandbox.worker.command(JSON.stringify({ id: `f${branch}`, cmd: "fork", branch }));
    await until(({ events, exit }) => events.includes(`"type":"status","id":"f${branch}"`) || exit !== undefined);
  };
  return { received, until, exec, askForFork };
}

/** Starts a program: what it has printed so far, how it ended, and a way to wait for more. */
function run(sandbox: Sandbox, spec: Partial<ProgramSpec>) {
  const received = { stdout: "", stderr: "", exit: undefined as ProgramExit | undefined, isGone: false };
  let wake: () => void = () => {};
  if (sandbox.startProgram === undefined) throw new Error("the sandbox cannot start programs");
  const program = sandbox.startProgram(
    { command: "true", cwd: "", env: {}, hasInput: true, ...spec },
    {
      onOutput: (stream, chunk) => {
        received[stream] += chunk.toString();
        wake();
      },
      onExit: (exit) => {
        received.exit = exit;
        wake();
      },
      onGone: () => {
        received.isGone = true;
        wake();
      },
    },
  );
  const until = async (fits: (now: typeof received) => boolean): Promise<void> => {
    while (!fits(received)) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { received, until, program };
}

export function describeEnvironment(name: string, { open, capabilities }: EnvironmentContract): void {
  describe(`environment ${name}`, () => {
    let environment: Environment;
    const lacks = (capability: "fork" | "checkpoint" | "shell" | "processes"): readonly [boolean, string] => [
      !capabilities[capability],
      `environment ${name} declares that it has no '${capability}'`,
    ];
    beforeAll(() => {
      environment = open();
    });
    afterAll(() => environment.close());

    test("declares its capabilities before anything is started, and reports the same", async () => {
      await using fresh = open();
      expect(fresh.capabilities).toEqual(capabilities);
      expect(fresh.report()).toMatchObject({ name: fresh.name, capabilities });
    });

    test("a sandbox has the methods that the capabilities declare, and no others", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      expect({
        fork: sandbox.fork !== undefined,
        checkpoint: sandbox.checkpoint !== undefined,
        shell: sandbox.startProgram !== undefined,
      }).toEqual({ fork: capabilities.fork, checkpoint: capabilities.checkpoint, shell: capabilities.shell });
      await sandbox.close();
    });

    test("code reaches the host's network only where the capabilities declare it", async ({ skip }) => {
      skip(capabilities.network !== "none", `environment ${name} declares network '${capabilities.network}'`);
      const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const sandbox = await environment.openSandbox(PLAIN);
      const { received, exec } = converse(sandbox);
      await exec("e1", `import socket; socket.create_connection(('127.0.0.1', ${port}), 5)`);
      expect(received.events).toMatch(/"status":"error".*(PermissionError|OSError|ConnectionError|ImportError)/);
      await sandbox.close();
      server.close();
    });

    test("opens a sandbox whose worker has reported that it is ready", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      const { received, until } = converse(sandbox);
      await until(({ events }) => events.includes("\n"));
      expect(JSON.parse(received.events)).toMatchObject({ type: "ready", protocol: 1 });
      await sandbox.close();
    });

    test("carries commands down, and events and both streams up", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      const { received, exec } = converse(sandbox);
      await exec("e1", "import sys; print('out'); print('err', file=sys.stderr); 6 * 7");
      expect(received.events).toContain('"text/plain":"42"');
      expect(received).toMatchObject({ stdout: "out\n", stderr: "err\n" });
      await sandbox.close();
    });

    test("interrupts running code, and resolves when the signal has been sent", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      const { received, until } = converse(sandbox);
      const code = "print('up', flush=True)\nwhile True: pass";
      sandbox.worker.command(JSON.stringify({ id: "e1", cmd: "exec", count: 1, code }));
      await until(({ stdout }) => stdout === "up\n");
      await sandbox.worker.interrupt();
      await until(({ events }) => events.includes('"status"'));
      expect(received.events).toContain('"interrupted"');
      await sandbox.close();
    });

    test("reports how a worker ended after its last output, and starts another one with the same files", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      const first = converse(sandbox);
      await first.exec("e1", "open('f', 'w').write('x'); print('bye', flush=True); import os; os._exit(5)");
      await first.until(({ exit }) => exit !== undefined);
      expect(first.received).toMatchObject({ stdout: "bye\n", exit: { kind: "code", code: 5, reason: null } });
      await sandbox.restart();
      const second = converse(sandbox);
      await second.exec("e1", "open('f').read()");
      expect(second.received.events).toContain("'x'");
      await sandbox.close();
    });

    test("kills a worker that does not end by itself, and keeps the sandbox", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      const first = converse(sandbox);
      const code = "print('up', flush=True)\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass";
      sandbox.worker.command(JSON.stringify({ id: "e1", cmd: "exec", count: 1, code }));
      await first.until(({ stdout }) => stdout === "up\n");
      await sandbox.worker.interrupt();
      sandbox.worker.kill("timeout");
      await first.until(({ exit }) => exit !== undefined);
      expect(first.received.exit).toEqual({ kind: "signal", signal: 9, reason: "timeout" });
      await sandbox.restart();
      const second = converse(sandbox);
      await second.exec("e1", "1 + 1");
      expect(second.received.events).toContain('"text/plain":"2"');
      await sandbox.close();
    });

    test("kills a worker with everything it started, and keeps the sandbox", async ({ skip }) => {
      skip(...lacks("processes"));
      const sandbox = await environment.openSandbox(PLAIN);
      const first = converse(sandbox);
      const mark = uniqueSleep(); // some sandboxes see the processes of the whole machine
      await first.exec("e1", `import subprocess; subprocess.Popen(['setsid', 'sleep', '${mark}']); None`);
      sandbox.worker.kill("timeout");
      await first.until(({ exit }) => exit !== undefined);
      expect(first.received.exit).toEqual({ kind: "signal", signal: 9, reason: "timeout" });
      await sandbox.restart();
      const second = converse(sandbox);
      await second.exec("e1", `b'${mark}' in ${COMMAND_LINES}`);
      expect(second.received.events).toContain('"text/plain":"False"');
      await sandbox.close();
    });

    test("replaces output pipes: output of old children is background output", async ({ skip }) => {
      skip(...lacks("processes"));
      const sandbox = await environment.openSandbox(PLAIN);
      const { received, exec, until } = converse(sandbox);
      await exec(
        "e1",
        "import os, subprocess; r, w = os.pipe(); p = subprocess.Popen('read x; echo old', shell=True, stdin=r)",
      );
      expect(received.events).toContain('"survivors":true');
      await sandbox.worker.renewStreams();
      sandbox.worker.command(JSON.stringify({ id: "s1", cmd: "streams" }));
      await until(({ events }) => events.includes('"id":"s1"'));
      await exec("e2", "os.write(w, b'\\n'); p.wait(); print('new')");
      await until(({ background }) => background.includes("old"));
      expect(received).toMatchObject({ stdout: "new\n", background: "old\n" });
      await sandbox.close();
    });

    test("a program runs beside the worker, with its own input and streams, and does not end with it", async ({
      skip,
    }) => {
      skip(...lacks("shell"));
      const sandbox = await environment.openSandbox(PLAIN);
      const worker = converse(sandbox);
      const { received, until, program } = run(sandbox, {
        command: "echo up; read x; echo $x $A >&2; exit 3",
        env: { A: "a" },
      });
      await until(({ stdout }) => stdout === "up\n");
      sandbox.worker.kill("timeout");
      await worker.until(({ exit }) => exit !== undefined);
      expect(await program.write("in\n")).toBe(true);
      await until(({ isGone }) => isGone);
      expect(received).toMatchObject({
        stderr: "in a\n",
        exit: { kind: "code", code: 3, reason: null, isLeft: false },
      });
      expect(await program.write("x")).toBe(false);
      await sandbox.close();
    });

    test("a program reports the exit of its command, and later that all its processes have ended", async ({ skip }) => {
      skip(...lacks("shell"));
      const sandbox = await environment.openSandbox(PLAIN);
      const { received, until, program } = run(sandbox, { command: "(setsid sleep 1000 &); echo left" });
      await until(({ exit }) => exit !== undefined);
      expect(received).toMatchObject({
        stdout: "left\n",
        isGone: false,
        exit: { kind: "code", code: 0, isLeft: true },
      });
      expect(await program.measure()).toMatchObject({ cpuMs: expect.any(Number) });
      program.kill();
      await until(({ isGone }) => isGone);
      expect(await program.measure()).toBe(null);
      await sandbox.close();
    });

    test("a program is paused, resumed and asked to end as a whole, and ends with the sandbox", async ({ skip }) => {
      skip(...lacks("shell"));
      const sandbox = await environment.openSandbox(PLAIN);
      const polite = run(sandbox, {
        command: "trap 'echo bye; exit 0' TERM; echo up; while true; do sleep 0.01; done",
      });
      const stubborn = run(sandbox, { command: "trap '' TERM; echo up; sleep 1000" });
      for (const each of [polite, stubborn]) await each.until(({ stdout }) => stdout === "up\n");
      await polite.program.pause();
      polite.program.askToEnd();
      await polite.until(({ isGone }) => isGone);
      expect(polite.received.stdout).toBe("up\nbye\n");
      await sandbox.close();
      await stubborn.until(({ isGone }) => isGone);
      expect(stubborn.received.exit).toEqual({ kind: "sandbox-gone", isLeft: false });
    });

    test("thousands of requests at once do not block other sandboxes", async ({ skip }) => {
      skip(...lacks("shell"));
      const [sandbox, other] = await Promise.all([environment.openSandbox(PLAIN), environment.openSandbox(PLAIN)]);
      const { received, until, program } = run(sandbox, { command: "echo up; sleep 1000" });
      await until(({ stdout }) => stdout === "up\n");
      const paused = Promise.all(Array.from({ length: 2000 }, () => program.pause()));
      const beside = run(other, { command: "echo fine" });
      await beside.until(({ isGone }) => isGone);
      expect(beside.received.stdout).toBe("fine\n");
      await paused;
      program.kill();
      await until(({ isGone }) => isGone);
      expect(received.exit).toMatchObject({ kind: "signal", signal: 9 });
      await Promise.all([sandbox.close(), other.close()]);
    });

    test("write() resolves to false when no process reads the input, whatever the size", async ({ skip }) => {
      skip(...lacks("shell"));
      const sandbox = await environment.openSandbox(PLAIN);
      const deaf = run(sandbox, { command: "exec 0<&-; echo up; sleep 1000" });
      expect(await deaf.program.write("x".repeat(1_000_000))).toBe(false);
      expect(await deaf.program.write("x")).toBe(false);
      const busy = run(sandbox, { command: "echo up; sleep 1000" });
      const written = busy.program.write(new Uint8Array(1_000_000));
      await busy.until(({ stdout }) => stdout === "up\n");
      busy.program.kill();
      expect(await written).toBe(false);
      deaf.program.kill();
      await sandbox.close();
    });

    test("a fork has its own worker and its own files, and outlives the sandbox it came from", async ({ skip }) => {
      skip(...lacks("fork"));
      const sandbox = await environment.openSandbox(PLAIN);
      const first = converse(sandbox);
      await first.exec("e1", "x = 1; open('f', 'w').write('x')");
      const fork = await sandbox.fork?.(first.askForFork);
      if (fork === undefined) throw new Error("the sandbox cannot fork");
      await first.exec("e2", "x = 2; open('f', 'w').write('changed')");
      await sandbox.close();
      const second = converse(fork);
      await second.exec("e1", "x, open('f').read()");
      expect(second.received.events).toContain("(1, 'x')");
      await fork.close();
    });

    test("a worker is replaced by a copy of a checkpoint, as often as wanted", async ({ skip }) => {
      skip(...lacks("checkpoint"));
      const sandbox = await environment.openSandbox(PLAIN);
      const first = converse(sandbox);
      await first.exec("e1", "x = 1");
      let ends = 0;
      const checkpoint = await sandbox.checkpoint?.(first.askForFork, () => (ends += 1));
      if (checkpoint === undefined) throw new Error("the sandbox cannot make checkpoints");
      for (let time = 0; time < 2; time += 1) {
        await sandbox.restart(checkpoint);
        const next = converse(sandbox);
        await next.exec("e1", "x += 1; x");
        expect(next.received.events).toContain('"text/plain":"2"');
      }
      checkpoint.release();
      checkpoint.release();
      expect({ ended: checkpoint.ended, ends }).toEqual({ ended: true, ends: 1 });
      await sandbox.close();
    });

    test("a job works beside the worker: it is none of its children, outlives it, and ends with the sandbox", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      const { received, exec, until } = converse(sandbox);
      const job = await sandbox.startJob();
      await exec("e1", "open('f', 'w').write('x'); import subprocess; subprocess.run(['true']).returncode");
      expect(received.events).not.toContain('"survivors":true');
      sandbox.worker.kill("timeout");
      await until(({ exit }) => exit !== undefined);
      expect(await job.write(`${JSON.stringify({ do: "stat", path: "f", folder: sandbox.folder })}\n`)).toBe(true);
      let said = "";
      for await (const chunk of job.output()) said += chunk.toString();
      expect(said).toMatch(/"name":"f".*"size":1/);
      await job.ended;
      expect(await job.write("more")).toBe(false);
      const idle = await sandbox.startJob();
      await sandbox.close();
      await idle.ended;
      await expect(sandbox.startJob()).rejects.toThrow(WorkerLostError);
    });

    test("close() ends everything and is idempotent; calls after it do nothing", async () => {
      const sandbox = await environment.openSandbox(PLAIN);
      const { received } = converse(sandbox);
      await sandbox.close();
      await sandbox.close();
      expect(received.exit).toEqual({ kind: "sandbox-gone" });
      sandbox.worker.command("{}");
      sandbox.worker.aside("{}");
      sandbox.worker.kill("timeout");
      await sandbox.worker.interrupt();
      await expect(sandbox.restart()).rejects.toThrow(/gone/);
    });

    test("sandboxes do not see each other", async () => {
      const [one, two] = await Promise.all([environment.openSandbox(PLAIN), environment.openSandbox(PLAIN)]);
      const first = converse(one);
      const second = converse(two);
      await first.exec(
        "e1",
        "import tempfile; open(tempfile.gettempdir() + '/secret', 'w').write('x'); open('secret', 'w').write('x')",
      );
      await second.exec(
        "e1",
        "import os, tempfile; os.listdir('.'), os.listdir(tempfile.gettempdir()), os.access('/tmp/secret', 0)",
      );
      expect(second.received.events).toContain("([], [], False)");
      await Promise.all([one.close(), two.close()]);
    });
  });
}
