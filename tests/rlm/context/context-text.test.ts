import { expect, test } from "vitest";
import { isSmall } from "../../../src/rlm/calls/direct.ts";
import { toContextItems, type Context } from "../../../src/rlm/context/context-items.ts";
import { contextText } from "../../../src/rlm/context/context-text.ts";
import { Folder } from "../../config/folder.ts";

const textOf = async (context: Context): Promise<string> => {
  const [item] = toContextItems(context);
  return item === undefined ? "" : contextText(item);
};

test("a context as text has the names of files, and only their part of a file", async () => {
  using folder = new Folder({ all: "onetwothree", own: "own text" });
  const path = folder.at("all");
  const range = { offset: 3, length: 3 };
  expect(await textOf({ file: path, range })).toBe("two");
  expect(await textOf({ file: folder.at("own") })).toBe("own text");
  const files = [
    { name: "a", path, range },
    { name: "b", path: folder.at("own") },
  ];
  expect(await textOf({ files })).toBe("--- a ---\ntwo\n\n--- b ---\nown text");
  expect(await textOf("plain")).toBe("plain");
  expect(await textOf({ json: [1] })).toBe("[1]");
});

test("the names of very many files make a context too large to be given to a model directly", () => {
  using folder = new Folder({ empty: "" });
  const files = (count: number): Context => ({
    files: Array.from({ length: count }, (_, index) => ({ name: `file ${index}`, path: folder.at("empty") })),
  });
  expect(isSmall(toContextItems(files(10)), 32_000)).toBe(true);
  expect(isSmall(toContextItems(files(3_000)), 32_000)).toBe(false);
});
