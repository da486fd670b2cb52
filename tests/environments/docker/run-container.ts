// Runs a command in a container and removes it: what a test needs to look into an image.

import { text } from "node:stream/consumers";
import type { Engine } from "../../../src/environments/docker/engine/engine.ts";

/** `limits`: parts of HostConfig. */
export async function runContainer(
  engine: Engine,
  image: string,
  command: readonly string[],
  limits: object = {},
): Promise<{ exitCode: number; output: string }> {
  const HostConfig = { NetworkMode: "none", ReadonlyRootfs: true, CapDrop: ["ALL"], ...limits };
  const json = { Image: image, Cmd: command, User: "65534", Tty: true, HostConfig };
  const { Id: id } = (await engine.call("POST", "/containers/create", { json })) as { Id: string };
  try {
    await engine.call("POST", `/containers/${id}/start`);
    const { StatusCode: exitCode } = (await engine.call("POST", `/containers/${id}/wait`)) as { StatusCode: number };
    const query = { stdout: true, stderr: true };
    return { exitCode, output: await text(await engine.open("GET", `/containers/${id}/logs`, { query })) };
  } finally {
    await engine.call("DELETE", `/containers/${id}`, { query: { force: true } });
  }
}
