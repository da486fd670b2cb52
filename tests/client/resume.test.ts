import { expect, test } from "vitest";
import { resumeEvents } from "../../src/client/resume.ts";
import { ServerClient } from "../../src/client/client.ts";

test("leaving the loop closes the stream", async () => {
  const client = new ServerClient({ url: "http://127.0.0.1:9", token: "t", tokenFrom: "a test" });
  let isOpen = true;
  async function* stream(): AsyncGenerator<{ id: undefined; type: string; data: unknown }> {
    try {
      for (;;) yield { id: undefined, type: "output-delta", data: {} };
    } finally {
      isOpen = false;
    }
  }
  const options = { isEnd: () => false, whyOver: () => Promise.resolve(undefined) };
  for await (const { type } of resumeEvents(client, "/events", stream(), options)) {
    expect(type).toBe("output-delta");
    break;
  }
  expect(isOpen).toBe(false);
});
