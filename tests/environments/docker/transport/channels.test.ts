// What a writer over attached streams says about its reader, when that has ended.

import { expect, test } from "vitest";
import { ChannelWriter } from "../../../../src/environments/docker/transport/channels.ts";

function openWriter(): ChannelWriter {
  return new ChannelWriter({ send: () => {}, add: () => {}, remove: () => {} }, 1);
}

test("a writer whose reader took everything and ended had a reader, until more is written", async () => {
  const writer = openWriter();
  writer.write("line\n");
  const taken = writer.taken();
  writer.acknowledge(5);
  writer.end();
  await taken;
  expect(writer.hasReader).toBe(true);
  writer.write("another\n");
  expect(writer.hasReader).toBe(false);
});

test("a writer whose reader ended before it took everything has none", async () => {
  const writer = openWriter();
  writer.write("line\n");
  const taken = writer.taken();
  writer.acknowledge(4);
  writer.end();
  await taken;
  expect(writer.hasReader).toBe(false);
});
