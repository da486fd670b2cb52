// The tests of the Python worker read the same fixtures.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FrameReader } from "../../src/kernel/frame-reader.ts";
import {
  toCommandMessage,
  toExecMessage,
  toFlushMessage,
  toReplyMessage,
  type HostCommand,
  type HostMessage,
  type HostQuestion,
  type SourceMessage,
} from "../../src/protocol/worker/host-messages.ts";
import { parseWorkerEvent } from "../../src/protocol/worker/parse-worker-event.ts";

interface Fixture {
  readonly name: string;
  readonly line: string;
  readonly payload?: string;
  readonly parsed: Record<string, unknown>;
  readonly expect?: "violation" | "ignore";
}

function fixtures(file: string): readonly Fixture[] {
  return JSON.parse(readFileSync(`tests/fixtures/messages/${file}.json`, "utf8")) as Fixture[];
}

function receive({ line, payload = "" }: Fixture): { readonly messages: unknown[]; readonly violations: string[] } {
  const received = { messages: [] as unknown[], violations: [] as string[] };
  const reader = new FrameReader({
    onMessage: (message) => received.messages.push(message),
    onViolation: (why) => received.violations.push(why),
    isWanted: () => true,
    onChunk: () => () => {},
  });
  const data = Buffer.from(`${line}\n${payload}`);
  reader.push(data, data.length);
  return received;
}

test.each(fixtures("events"))("event: $name", (fixture) => {
  const { messages, violations } = receive(fixture);
  expect(violations).toEqual([]);
  expect(messages).toEqual([fixture.parsed]);
  const event = parseWorkerEvent(messages[0]);
  for (const [key, value] of Object.entries(event ?? { type: "missing" })) {
    const sent = fixture.parsed[key];
    if (sent !== undefined) expect(value).toEqual(sent);
  }
  expect(event?.type).toBe(fixture.parsed["type"]);
  if (event?.type === "display") {
    expect(event).toEqual(fixture.parsed);
  }
});

test.each(fixtures("bad-events"))("hostile event: $name", (fixture) => {
  const { messages, violations } = receive(fixture);
  if (fixture.expect === "violation") {
    expect(violations).toHaveLength(1);
    expect(messages).toEqual([]);
    return;
  }
  expect(violations).toEqual([]);
  const event = parseWorkerEvent(messages[0]);
  // Ignored by the parser, or later because it was not expected.
  const isUnexpected = event !== null && ["e999", "__proto__"].includes("id" in event ? event.id : "");
  const isLate = event?.type === "ready" || fixture.name.includes("__proto__");
  expect(event === null || isUnexpected || isLate).toBe(true);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

const bytes = (text: string): number => Buffer.byteLength(text);

function build(message: Record<string, unknown>, payload: string | undefined): HostMessage {
  const id = String(message["id"]);
  switch (message["cmd"]) {
    case "exec": {
      const code = payload ?? String(message["code"]);
      return toExecMessage(
        {
          id,
          count: Number(message["count"]),
          code,
          env: message["env"] as undefined,
          name: message["name"] as undefined,
          apart: message["apart"] as undefined,
          console: message["console"] as undefined,
        },
        bytes,
      );
    }
    case "configure":
      return toCommandMessage(id, { ...message, cmd: "configure" });
    case "reset":
      return toCommandMessage(id, { cmd: "reset" });
    case "streams":
      return toCommandMessage(id, { cmd: "streams" });
    case "fork":
      return toCommandMessage(id, { cmd: "fork", branch: Number(message["branch"]) });
    case "statistics":
    case "variables":
    case "inspect":
    case "complete":
    case "signature":
    case "source":
    case "rows":
      return toCommandMessage(id, message as unknown as HostQuestion);
    case "fetch":
    case "fetch-end":
      return toCommandMessage(id, message as unknown as SourceMessage);
    case "set":
    case "get":
    case "stdlib":
    case "stdlib-add":
      return toCommandMessage(id, message as unknown as HostCommand);
    case "flush":
      return toFlushMessage(id);
    default: {
      const answer = payload === undefined ? message : (JSON.parse(payload) as Record<string, unknown>);
      const reply = "error" in answer ? { error: answer["error"] as never } : { value: answer["value"] };
      return toReplyMessage(id, Number(message["call"]), reply, bytes);
    }
  }
}

test.each([...fixtures("commands"), ...fixtures("aside")])("$name", ({ parsed, payload }) => {
  const { line, payload: sent } = build(parsed, payload);
  const message = JSON.parse(line) as Record<string, unknown>;
  if (sent === undefined && payload !== undefined) {
    // Short enough to be sent inline: the same message in its other form.
    const whole =
      "code" in message
        ? message["code"]
        : JSON.stringify("error" in message ? { error: message["error"] } : { value: message["value"] });
    expect(whole).toBe("code" in message ? payload : JSON.stringify(JSON.parse(payload)));
  } else {
    expect(message).toEqual(parsed);
    expect(sent).toBe(payload);
  }
});
