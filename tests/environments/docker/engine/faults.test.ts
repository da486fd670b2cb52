// Engines that do not answer, answer in part, or answer nonsense. Every request ends, and so does the runtime.

import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createContainer,
  finishRemovals,
  removeContainer,
  removeStaleContainers,
} from "../../../../src/environments/docker/containers.ts";
import { findImage, pullImage } from "../../../../src/environments/docker/images.ts";
import { findSystemImage } from "../../../../src/environments/docker/worker-image.ts";
import { EnvironmentUnavailableError } from "../../../../src/errors.ts";
import { openRuntime } from "../../../../src/index.ts";
import { remove } from "../../../remove.ts";
import { CONTAINER, openFakeEngine, SILENCE, type Answer } from "./fake-engine.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** Time passes only when a test says so. Connections are not affected. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
}

function open(host: string) {
  return openRuntime({ environment: "docker", preload: [], poolSize: 0, docker: { host } });
}

const LIST = /^GET \/containers\/json/;
const SILENT: readonly (readonly [string, RegExp, Answer])[] = [
  ["never answers", /./, SILENCE],
  ["answers a ping alone", /^(?!GET \/_ping)/, SILENCE],
  ["sends a part of an answer", LIST, "["],
];

test("requests that last as long as a container do not keep others waiting", async () => {
  const { engine, requests } = await openFakeEngine(() => undefined);
  const waiting = Array.from({ length: 40 }, () =>
    engine.call("POST", `/containers/${CONTAINER}/wait`, { limitMs: Infinity }).catch(() => {}),
  );
  await vi.waitFor(() => expect(requests).toHaveLength(41));
  expect(await engine.call("GET", "/containers/json")).toEqual([]);
  engine.close();
  await Promise.all(waiting);
});

describe.each(SILENT)("an engine that %s", (_, pattern, part) => {
  const answer = (request: string): Answer => (pattern.test(request) ? part : undefined);

  test("is given up after a while", async () => {
    const { engine, until } = await openFakeEngine(answer);
    stopTime();
    const failure = engine.call("GET", "/containers/json").catch((error: unknown) => error);
    await until(pattern);
    vi.advanceTimersByTime(60_000);
    expect(await failure).toBeInstanceOf(EnvironmentUnavailableError);
    expect(await failure).toMatchObject({ why: expect.stringMatching(/has not answered in \d+ seconds/) });
  });

  test("does not keep a runtime from closing", async () => {
    const { host, until } = await openFakeEngine(answer);
    const runtime = await open(host);
    const failure = runtime.openSession().catch((error: unknown) => error);
    await until(pattern);
    await runtime.close();
    expect(await failure).toMatchObject({ why: "the runtime is closed" });
  });

  test("ends a request with the reason of its signal", async () => {
    const { engine, until } = await openFakeEngine(answer);
    const controller = new AbortController();
    const failure = engine.call("GET", "/containers/json", { signal: controller.signal });
    await until(pattern);
    controller.abort(new Error("enough"));
    await expect(failure).rejects.toThrow("enough");
  });
});

describe("a container that does nothing is given up", () => {
  test("when an image is built", async () => {
    const { host, requests, until } = await openFakeEngine((request) =>
      request.startsWith("GET /images/rlm-runtime/worker") ? { status: 404, json: {} } : undefined,
    );
    stopTime();
    await using runtime = await open(host);
    const failure = runtime.openSession().catch((error: unknown) => error);
    await until(/^POST .*\/wait/);
    vi.advanceTimersByTime(120_000);
    expect(await failure).toMatchObject({ why: expect.stringContaining("did not finish within 120 seconds") });
    expect(requests.at(-1)).toMatch(/^DELETE /);
  });

  test("when a session is opened", async () => {
    const temp = mkdtempSync(join(tmpdir(), "rlm-faults-"));
    onTestFinished(() => remove(temp));
    vi.stubEnv("TMPDIR", temp);
    const { host, requests } = await openFakeEngine(() => undefined);
    stopTime();
    await using runtime = await open(host);
    let failure: unknown;
    runtime.openSession().catch((error: unknown) => {
      failure = error;
    });
    await vi.waitFor(() => {
      // Requests are answered at once, so that no other limit is reached.
      if (requests.some((request) => request.includes("/wait")) && failure === undefined)
        vi.advanceTimersByTime(60_000);
      expect(failure).toMatchObject({ why: expect.stringContaining("has not connected in 60 seconds") });
    });
    expect(requests.at(-1)).toMatch(/^DELETE /);
    expect(readdirSync(temp).filter((name) => name.startsWith("rlm-socket-"))).toEqual([]);
  });
});

describe("a container that ends before it has connected", () => {
  const endsWith =
    (code: number) =>
    (request: string): Answer =>
      request.includes("condition=next-exit") ? JSON.stringify({ StatusCode: code }) : undefined;

  test("is an error, and says nothing of later ones", async () => {
    const { host, requests } = await openFakeEngine(endsWith(1));
    await using runtime = await open(host);
    for (let i = 0; i < 2; i++)
      await expect(runtime.openSession()).rejects.toThrow(/did not start: its container ended with 1/);
    expect(requests.filter((request) => request.includes("/attach"))).toEqual([]);
  });

  test("because it cannot connect is reached by its streams", async () => {
    const { host, until } = await openFakeEngine(endsWith(75));
    const runtime = await open(host);
    const failure = runtime.openSession().catch((error: unknown) => error);
    await until(/\/attach/);
    await runtime.close();
    expect(await failure).toMatchObject({ why: "the runtime is closed" });
  });

  test("is a user-facing error where there is no other way", async () => {
    vi.stubEnv("RLM_DOCKER_TRANSPORT", "socket");
    const { host } = await openFakeEngine(endsWith(75));
    await using runtime = await open(host);
    const failure = await runtime.openSession().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EnvironmentUnavailableError);
    expect(failure).toMatchObject({ why: expect.stringContaining("it cannot connect to the host") });
  });
});

describe("a container that is being created when the runtime closes", () => {
  test("is removed as soon as it is there", async () => {
    let isClosed = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const { host, until } = await openFakeEngine(async (request) => {
      if (request.startsWith("POST /containers/create")) await closed;
      return undefined;
    });
    const runtime = await open(host);
    const failure = runtime.openSession().catch((error: unknown) => error);
    const created = await until(/^POST \/containers\/create/);
    const closing = runtime.close();
    isClosed();
    await closing;
    const name = /name=(?<name>rlm-session-[\da-f]+)$/.exec(created)?.groups?.["name"];
    expect(await until(/^DELETE/)).toContain(`DELETE /containers/${name}?`);
    expect(await failure).toMatchObject({ why: "the runtime is closed" });
  });

  test("is removed at the second attempt where the first one fails", async () => {
    const answers: Answer[] = [{ status: 500, json: { message: "it is down" } }];
    let create = (): void => undefined;
    const isClosing = new Promise<void>((resolve) => {
      create = resolve;
    });
    const { host, requests, until } = await openFakeEngine(async (request) => {
      if (request.startsWith("POST /containers/create")) await isClosing;
      return request.startsWith("DELETE") ? answers.shift() : undefined;
    });
    const runtime = await open(host);
    const failure = runtime.openSession().catch((error: unknown) => error);
    await until(/^POST \/containers\/create/);
    const closing = runtime.close();
    create();
    await closing;
    expect(await failure).toMatchObject({ why: "the runtime is closed" });
    const removals = requests.filter((request) => request.startsWith("DELETE"));
    expect(removals).toEqual([removals[0], removals[0]]);
  });

  test("is removed by its name where the engine does not answer", async () => {
    const { engine, until } = await openFakeEngine((request) =>
      request.startsWith("POST /containers/create") ? SILENCE : undefined,
    );
    stopTime();
    const controller = new AbortController();
    const spec = { Image: "x", HostConfig: {}, Labels: { "dev.rlm-runtime.kind": "session" } };
    const failure = createContainer(engine, spec, controller.signal).catch((error: unknown) => error);
    await until(/^POST \/containers\/create/);
    controller.abort(new Error("enough"));
    vi.advanceTimersByTime(5_000);
    expect(await until(/^DELETE/)).toMatch(/^DELETE \/containers\/rlm-session-[\da-f]+\?/);
    expect(await failure).toMatchObject({ message: "enough" });
  });
});

describe("a container that cannot be removed", () => {
  const answer = (request: string): Answer => {
    if (request.startsWith("DELETE")) return { status: 409, json: { message: "it is in use" } };
    if (request.includes("/start")) return { status: 500, json: { message: "it cannot be started" } };
    return undefined;
  };

  test("is asked for twice, and not waited for without end", async () => {
    const { engine, requests, until } = await openFakeEngine(answer);
    stopTime();
    const failure = removeContainer(engine, CONTAINER).catch((error: unknown) => error);
    await until(/condition=removed/);
    vi.advanceTimersByTime(5_000);
    expect(await failure).toMatchObject({ status: 409 });
    expect(requests.filter((request) => request.startsWith("DELETE"))).toHaveLength(2);
  });

  test("is removed when the next one is created, as after the engine was down", async () => {
    let isDown = true;
    const { engine, requests, until } = await openFakeEngine((request) =>
      isDown && request.startsWith("DELETE") ? { status: 500, json: { message: "it is down" } } : undefined,
    );
    await expect(removeContainer(engine, CONTAINER)).rejects.toMatchObject({ status: 500 });
    isDown = false;
    const spec = { Image: "x", HostConfig: {}, Labels: { "dev.rlm-runtime.kind": "session" } };
    await createContainer(engine, spec);
    await until(/^POST \/containers\/create/);
    await vi.waitFor(() => expect(engine.pendingRemovals.size).toBe(0));
    expect(requests.filter((request) => request.startsWith(`DELETE /containers/${CONTAINER}`))).toHaveLength(2);
  });

  test("is tried until the engine removes it, before the engine is left", async () => {
    let refusals = 3;
    const { engine, requests } = await openFakeEngine((request) => {
      if (!request.startsWith("DELETE")) return undefined;
      refusals -= 1;
      return refusals < 0 ? undefined : { status: 500, json: { message: "device or resource busy" } };
    });
    await expect(removeContainer(engine, CONTAINER)).rejects.toMatchObject({ status: 500 });
    await finishRemovals(engine);
    expect(engine.pendingRemovals.size).toBe(0);
    expect(requests.filter((request) => request.startsWith("DELETE"))).toHaveLength(4);
  });

  test("does not hide why a session cannot be opened", { tags: "stress" }, async () => {
    const { host, until } = await openFakeEngine(answer);
    stopTime();
    const runtime = await open(host);
    const failure = runtime.openSession().catch((error: unknown) => error);
    await until(/condition=removed/);
    vi.advanceTimersByTime(5_000);
    expect(await failure).toMatchObject({ why: expect.stringContaining("it cannot be started") });
    await runtime.close();
  });
});

describe("nonsense", () => {
  const nonsense = ["null", "{}", "[null]", "1", '"x"', "[1]", '[{"Id":1,"Labels":null}]', "nothing"];

  test.each(nonsense)("as a list of containers or images: %s", async (text) => {
    const { engine } = await openFakeEngine((request) => (/\/json/.test(request) ? text : undefined));
    const expected = text.startsWith("[") ? 0 : "EngineError";
    const name = (error: Error): string => error.name;
    expect(await removeStaleContainers(engine).catch(name)).toBe(expected);
    expect((await findSystemImage(engine).catch(name)) ?? 0).toBe(expected);
  });

  test.each(nonsense)("as an image, a container or a message: %s", async (text) => {
    const { engine } = await openFakeEngine((request) => (request.includes("_ping") ? undefined : text));
    const spec = { Image: "x", HostConfig: {}, Labels: {} };
    await expect(findImage(engine, "x")).rejects.toMatchObject({ name: "EngineError" });
    await expect(createContainer(engine, spec)).rejects.toMatchObject({ name: "EngineError" });
    await expect(pullImage(engine, "x", { onProgress: () => undefined })).rejects.toMatchObject({
      name: "EngineError",
    });
  });

  test("is a user-facing error", async () => {
    const { host } = await openFakeEngine((request) => (LIST.test(request) ? "{}" : undefined));
    await using runtime = await open(host);
    await expect(runtime.openSession()).rejects.toThrow(EnvironmentUnavailableError);
  });
});
