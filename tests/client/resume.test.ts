import { expect, test } from "vitest";
import { lastingEvents } from "../../src/client/resume.ts";
import { ServerClient } from "../../src/client/client.ts";

test("whoever leaves the events ends the stream that they came on", async () => {
  const client = new ServerClient({ url: "http://127.0.0.1:9", token: "t", tokenFrom: "a test", isExposed: false });
  let isOpen = true;
  async function* stream(): AsyncGenerator<{ id: undefined; type: string; data: unknown }> {
    try {
      for (;;) yield { id: undefined, type: "output-delta", data: {} };
    } finally {
      isOpen = false;
    }
  }
  const options = { isEnd: () => false, whyOver: () => Promise.resolve(undefined) };
  for await (const { type } of lastingEvents(client, "/events", stream(), options)) {
    expect(type).toBe("output-delta");
    break;
  }
  expect(isOpen).toBe(false);
});
