import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { EnvironmentUnavailableError, type Runtime } from "../internals.ts";
import { converse, describeEnvironment, PLAIN } from "../contracts/environment.ts";
import { openTestRuntime, PYTHON } from "../open.ts";
import { LOCAL_CAPABILITIES, openLocal } from "./open-local.ts";
import { skipInTierB, skipInTierC, TIER } from "../tier.ts";

const NOT_PRELOADED = "each sandbox starts a Python of its own, so nothing can be loaded before";

const capabilities = LOCAL_CAPABILITIES;
describeEnvironment("local", { open: () => openLocal(), capabilities });
describeEnvironment("local, from the pool", { open: () => openLocal({ poolSize: 2 }), capabilities });

const scratch = mkdtempSync(join(tmpdir(), "rlm-test-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A virtual environment of the test interpreter with some modules of its own. */
function makeVenv(folder: string, modules: Readonly<Record<string, string>>): string {
  mkdirSync(join(folder, "bin"), { recursive: true });
  symlinkSync(PYTHON, join(folder, "bin", "python3"));
  writeFileSync(join(folder, "pyvenv.cfg"), "home = /usr/bin\ninclude-system-site-packages = false\n");
  const print = "import sys; print('python%d.%d' % sys.version_info[:2])";
  const packages = join(folder, "lib", execFileSync(PYTHON, ["-c", print]).toString().trim(), "site-packages");
  mkdirSync(packages, { recursive: true });
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(packages, `${name}.py`), text);
  return folder;
}

async function valueOf(runtime: Runtime, code: string, options = {}): Promise<string | undefined> {
  const result = await runtime.execute(code, options);
  if (result.error !== undefined) throw new Error(result.error.traceback);
  return result.value?.["text/plain"];
}

describe("the pool", () => {
  test("gives ready sandboxes and is filled again", async () => {
    await using environment = openLocal({ poolSize: 2 });
    await environment.warm();
    expect(environment.report()).toMatchObject({
      tier: expect.any(String),
      landlock: expect.any(Number),
      preloaded: [],
    });
    const sandboxes = await Promise.all([1, 2, 3].map(() => environment.openSandbox(PLAIN)));
    environment.refill();
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  });
});

describe("interpreters", () => {
  test("a virtual environment is used with its packages, also one under a closed home folder", async (context) => {
    skipInTierC(context, "sessions of root have users of their own, which cannot reach it");
    const home = join(scratch, "home");
    mkdirSync(home, { mode: 0o700 });
    const venv = makeVenv(join(home, "venv"), { only_here: "answer = 42\n" });
    await using runtime = await openTestRuntime({ python: venv, poolSize: 0 });
    expect(await valueOf(runtime, "import only_here, sys; (only_here.answer, sys.prefix)")).toBe(`(42, '${venv}')`);
    expect(await valueOf(runtime, `import os; os.listdir('${home}')`)).toBe("['venv']");
    expect(
      await valueOf(runtime, "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1)']).returncode"),
    ).toBe("0");
  });

  test("commands find what is beside the interpreter, and a virtual environment may be named by its folder", async () => {
    chmodSync(scratch, 0o755);
    const venv = makeVenv(join(scratch, "named-venv"), { only_here: "answer = 43\n" });
    const before = process.cwd();
    process.chdir(scratch);
    try {
      await using runtime = await openTestRuntime({ python: "./named-venv", poolSize: 0 });
      const command = "command -v python3; python3 -c 'import only_here; print(only_here.answer)'";
      const { stdout } = await runtime.shell(command).result;
      expect(stdout).toBe(`${venv}/bin/python3\n43\n`);
    } finally {
      process.chdir(before);
    }
  });

  test("one whose folder is the home folder, or holds it, is refused: it would show everything", async () => {
    const home = makeVenv(join(scratch, "whole-home"), {});
    const before = process.env["HOME"];
    for (const folder of [home, join(home, "below")]) {
      process.env["HOME"] = folder;
      await using runtime = await openTestRuntime({ python: home, poolSize: 0 });
      await expect(runtime.openSession()).rejects.toThrow(/would show too much/);
    }
    process.env["HOME"] = before;
  });

  test("a shim is resolved once", async () => {
    const shim = join(scratch, "python-shim");
    const counter = join(scratch, "asked");
    writeFileSync(shim, `#!/bin/sh\necho x >> ${counter}\nexec ${PYTHON} "$@"\n`);
    chmodSync(shim, 0o755);
    await using runtime = await openTestRuntime({ python: shim, poolSize: 0 });
    expect(await valueOf(runtime, "1 + 1")).toBe("2");
    expect(await valueOf(runtime, "1 + 1")).toBe("2");
    expect(readFileSync(counter, "utf8")).toBe("x\n");
    expect(runtime.report().python?.executable).toBe(PYTHON);
  });

  test("one that does not exist or does not start is reported with a fix", async () => {
    for (const python of ["/nowhere/python3", "no-such-python", "/bin/true"]) {
      await using runtime = await openTestRuntime({ python, poolSize: 0 });
      const failure: unknown = await runtime.openSession().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(EnvironmentUnavailableError);
      expect((failure as Error).message).toMatch(/RLM_PYTHON/);
    }
  });

  test("one that is too old exits, and the error names its version", () => {
    const pretend =
      "import sys, runpy; sys.version_info = (3, 8, 18); runpy.run_path(sys.argv[1], run_name='__main__')";
    const { status, stderr } = spawnSync(PYTHON, ["-c", pretend, "python/forkserver/__main__.py"], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: "it is Python 3.8\n" });
  });

  test("a tier that does not exist is refused", async () => {
    vi.stubEnv("RLM_SANDBOX_TIER", "Z");
    try {
      await using runtime = await openTestRuntime({ poolSize: 0 });
      await expect(runtime.openSession()).rejects.toThrow(/RLM_SANDBOX_TIER asks for tier 'Z'/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("imports in a session use the compiled files of the installation", async () => {
    await using runtime = await openTestRuntime({ poolSize: 0 });
    const code =
      "import sys, wave, os; (sys.pycache_prefix, os.path.dirname(wave.__cached__) == os.path.dirname(wave.__file__) + '/__pycache__')";
    expect(await valueOf(runtime, code)).toBe("(None, True)");
  });

  test("closing ends a fork server that is still importing", async (context) => {
    skipInTierB(context, NOT_PRELOADED);
    const mark = join(scratch, "importing");
    const slow = `import os, time\nopen('${mark}', 'w').write(str(os.getpid()))\ntime.sleep(100)\n`;
    const folder = makeVenv(join(scratch, "slow"), { slow_module: slow });
    chmodSync(scratch, 0o777);
    const environment = openLocal({ python: folder, preload: ["slow_module"] });
    await environment.warm();
    await expect.poll(() => existsSync(mark) && readFileSync(mark, "utf8") !== "").toBe(true);
    const pid = Number(readFileSync(mark, "utf8"));
    await environment.close();
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });

  test("preloaded modules are there in every session that starts once they are loaded; absent ones are left out", async (context) => {
    skipInTierB(context, NOT_PRELOADED);
    await using environment = openLocal({ preload: ["colorsys", "no_such_module"], poolSize: 1 });
    await environment.warm();
    await expect.poll(() => environment.report().preloaded).toEqual(["colorsys"]);
  });

  test("a preloaded module may print", async (context) => {
    skipInTierB(context, NOT_PRELOADED);
    const noise = `print("by Python")\nimport os; os.write(1, b"by C\\n")\n`;
    const folder = makeVenv(join(scratch, "noisy"), { noisy_module: noise });
    await using environment = openLocal({ python: folder, preload: ["noisy_module"] });
    await environment.warm();
    await expect.poll(() => environment.report().preloaded).toEqual(["noisy_module"]);
  });
});

test("sessions of a preloaded numpy draw different numbers", async ({ skip }) => {
  await using environment = openLocal({ preload: ["numpy"], poolSize: 2 });
  await environment.warm();
  try {
    await expect.poll(() => environment.report().preloaded).toEqual(["numpy"]);
  } catch {
    skip("numpy is not installed");
  }
  const draw = async (): Promise<string> => {
    const sandbox = await environment.openSandbox(PLAIN);
    const { received, exec } = converse(sandbox);
    await exec("e1", "import numpy, random; (numpy.random.rand(), random.random())");
    await sandbox.close();
    return received.events.split("\n").at(-2) ?? "";
  };
  const [one, two] = [JSON.parse(await draw()), JSON.parse(await draw())] as { value: unknown }[];
  expect(one?.value).not.toEqual(two?.value);
});

describe("mounts", () => {
  let runtime: Runtime;
  let folder: string;
  beforeAll(async () => {
    runtime = await openTestRuntime({ poolSize: 0 });
    folder = join(scratch, "project");
    mkdirSync(folder);
    writeFileSync(join(folder, "data.txt"), "hello");
    writeFileSync(join(scratch, "outside.txt"), "secret");
    symlinkSync(join(scratch, "outside.txt"), join(folder, "link"));
  });
  afterAll(() => runtime.close());

  test("read-only: seen at its own path, not writable, and nothing beside it", async () => {
    const mounts = [{ path: folder, mode: "ro" as const }];
    expect(await valueOf(runtime, `open('${folder}/data.txt').read()`, { mounts })).toBe("'hello'");
    const write = await runtime.execute(`open('${folder}/data.txt', 'w')`, { mounts: [{ path: folder, mode: "ro" }] });
    expect(write.error?.value).toMatch(/Read-only file system|Permission denied/);
    const link = await runtime.execute(`open('${folder}/link').read()`, { mounts: [{ path: folder, mode: "ro" }] });
    expect(link.error?.name).toBe(TIER === "C" ? "PermissionError" : "FileNotFoundError");
    const beside = await runtime.execute(`import os; os.listdir('${scratch}')`, { mounts });
    if (TIER === "C") expect(beside.error?.name).toBe("PermissionError");
    else expect(beside.value?.["text/plain"]).toBe("['project']");
  });

  test("read-write: what code writes belongs to the folder's owner, for root too", async () => {
    const mounts = [{ path: folder, mode: "rw" }];
    await valueOf(runtime, `import os; os.makedirs('${folder}/new/deep'); open('${folder}/new/f', 'w').write('x')`, {
      mounts,
    });
    expect(readFileSync(join(folder, "new", "f"), "utf8")).toBe("x");
    expect(statSync(join(folder, "new", "f")).uid).toBe(process.getuid?.());
  });

  test("a single file can be mounted, and a folder below /tmp", async () => {
    const file = join(folder, "data.txt");
    expect(await valueOf(runtime, `open('${file}').read()`, { mounts: [{ path: file, mode: "ro" }] })).toBe("'hello'");
    const code = "import tempfile; open(tempfile.gettempdir() + '/own', 'w').write('x')";
    expect(await valueOf(runtime, code, { mounts: [{ path: folder, mode: "ro" }] })).toBe("1");
  });

  test.each([
    ["/"],
    ["/etc"],
    ["/proc"],
    ["/proc/self"],
    ["/dev/null"],
    ["/nowhere/at/all"],
    ["/sys/kernel"],
    ["/usr"],
  ])("%s is refused before anything starts", async (path) => {
    await expect(runtime.openSession({ mounts: [{ path, mode: "ro" }] })).rejects.toThrow(/Cannot mount/);
  });

  test("a mount of the whole runtime is refused for pooled sandboxes too", async () => {
    await using pooled = await openTestRuntime({ poolSize: 1, mounts: [{ path: "/etc", mode: "ro" }] });
    await expect(pooled.warm()).rejects.toThrow("Cannot mount '/etc'");
    await expect(pooled.openSession()).rejects.toThrow("Cannot mount '/etc'");
  });
});

test("a fork server that is killed takes its sessions with it, and the next session gets a new one", async () => {
  await using runtime = await openTestRuntime({ poolSize: 0 });
  const session = await runtime.openSession();
  await session.execute("x = 1").result;
  const running = session.execute("print('up', flush=True)\nwhile True: pass");
  for await (const event of running) if (event.type === "output-delta") break;
  const server = readFileSync(
    "/proc/self/task/self/children".replace("self/task/self", `${process.pid}/task/${process.pid}`),
    "utf8",
  );
  for (const pid of server.trim().split(" ")) {
    if (existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("forkserver")) {
      process.kill(Number(pid), "SIGKILL");
    }
  }
  expect(await running.result).toMatchObject({ status: "interrupted", reason: "worker-lost", state: "lost", epoch: 2 });
  expect((await session.execute("1 + 1").result).value).toEqual({ "text/plain": "2" });
});
