// An engine as `installDocker` needs it, over plain HTTP on its unix socket.

import { request, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { CommandEnd, ImageEngine, ImportOptions } from "../../../src/environments/docker/install.ts";

export class PlainEngine implements ImageEngine {
  readonly address: string;
  readonly #socketPath: string;

  constructor(address: string) {
    this.address = address;
    this.#socketPath = new URL(address).pathname;
  }

  async pull(image: string, { onProgress }: { onProgress: (text: string) => void }): Promise<void> {
    const [, repository = image, tag = "latest"] = /^(.*?)(?::([^:/]+))?$/.exec(image) ?? [];
    const response = await this.#send("POST", "/images/create", { fromImage: repository, tag });
    for (const line of await lines(response)) {
      if (line["error"] !== undefined) throw new Error(String(line["error"]));
      onProgress(String(line["status"]));
    }
  }

  async importImage(archive: AsyncIterable<Buffer>, { repository, tag, changes }: ImportOptions): Promise<void> {
    const query: [string, string][] = changes.map((change) => ["changes", change]);
    const response = await this.#send(
      "POST",
      "/images/create",
      [["fromSrc", "-"], ["repo", repository], ["tag", tag], ...query],
      archive,
    );
    for (const line of await lines(response)) if (line["error"] !== undefined) throw new Error(String(line["error"]));
  }

  async run(image: string, command: readonly string[], host: object = {}): Promise<CommandEnd> {
    const HostConfig = { NetworkMode: "none", ReadonlyRootfs: true, CapDrop: ["ALL"], ...host };
    const { Id: id } = await this.json("POST", "/containers/create", {
      Image: image,
      Cmd: command,
      User: "65534",
      Tty: true,
      HostConfig,
    });
    try {
      await this.json("POST", `/containers/${String(id)}/start`);
      const { StatusCode: exitCode } = await this.json("POST", `/containers/${String(id)}/wait`);
      const output = await text(
        await this.#send("GET", `/containers/${String(id)}/logs`, { stdout: "1", stderr: "1" }),
      );
      return { exitCode: Number(exitCode), output };
    } finally {
      await this.json("DELETE", `/containers/${String(id)}?force=true`);
    }
  }

  async json(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const content = body === undefined ? undefined : [Buffer.from(JSON.stringify(body))];
    const answer = await text(await this.#send(method, path, {}, content, "application/json"));
    return answer === "" ? {} : (JSON.parse(answer) as Record<string, unknown>);
  }

  async #send(
    method: string,
    path: string,
    query: Record<string, string> | [string, string][] = {},
    body?: Iterable<Buffer> | AsyncIterable<Buffer>,
    type = "application/x-tar",
  ): Promise<IncomingMessage> {
    const search = new URLSearchParams(query).toString();
    const sent = request({
      socketPath: this.#socketPath,
      method,
      path: search === "" ? path : `${path}?${search}`,
      headers: body === undefined ? {} : { "content-type": type },
      agent: false,
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      sent.once("response", resolve).once("error", reject),
    );
    if (body === undefined) sent.end();
    else await Promise.race([pipeline(Readable.from(body), sent), answered]);
    const response = await answered;
    if ((response.statusCode ?? 500) < 400) return response;
    throw new Error(`${method} ${path}: ${response.statusCode} ${await text(response)}`);
  }
}

async function lines(response: IncomingMessage): Promise<Record<string, unknown>[]> {
  const all = (await text(response)).split("\n").filter((line) => line.trim() !== "");
  return all.map((line) => JSON.parse(line) as Record<string, unknown>);
}
