import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import {
  collect,
  parseCountFrom,
  parseFields,
  parseInteger,
  parseTemperature,
  parseStrategy,
  parseTextOrFile,
  parseUSD,
  parseAssignment,
  parsePort,
  parseSeconds,
  parseSize,
} from "../../../src/cli/options/option-values.ts";

const MIB = 1024 * 1024;

test.each([
  ["0", 0],
  ["1.5", 1.5],
  [".5", 0.5],
  ["2000000", 2_000_000],
])("parseSeconds(%j)", (text, seconds) => {
  expect(parseSeconds(text)).toBe(seconds);
});

test.each(["", "x", "-1", "1e3", "5s", "Infinity", "NaN", "2000001", " 1"])("parseSeconds(%j) is refused", (text) => {
  expect(() => parseSeconds(text)).toThrow(InvalidArgumentError);
});

test.each([
  ["64m", 64 * MIB],
  ["512M", 512 * MIB],
  ["2g", 2048 * MIB],
  ["1.5GiB", 1536 * MIB],
  ["100MB", 100 * MIB],
  [String(64 * MIB), 64 * MIB],
])("parseSize(%j)", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(["", "x", "63m", "-1g", "1t", "9999999999g", "g"])("parseSize(%j) is refused", (text) => {
  expect(() => parseSize(text)).toThrow(InvalidArgumentError);
});

test.each(["0", "8000", "65535"])("parsePort(%j)", (text) => {
  expect(parsePort(text)).toBe(Number(text));
});

test.each(["", "x", "-1", "65536", "80.5", "0x50"])("parsePort(%j) is refused", (text) => {
  expect(() => parsePort(text)).toThrow(InvalidArgumentError);
});

test("parseAssignment() splits at the first =", () => {
  expect([parseAssignment("A=b=c"), parseAssignment("A=")]).toEqual([
    ["A", "b=c"],
    ["A", ""],
  ]);
});

test.each(["", "A", "=b"])("parseAssignment(%j) is refused", (text) => {
  expect(() => parseAssignment(text)).toThrow(InvalidArgumentError);
});

test("collect() keeps the order", () => {
  const add = collect(Number);
  expect(add("2", add("1"))).toEqual([1, 2]);
});

test("parseCountFrom() accepts whole numbers from its minimum", () => {
  expect(["0", "7", "400000"].map(parseCountFrom(0))).toEqual([0, 7, 400_000]);
  for (const text of ["", "0", "-1", "1.5", "1e3", "x", "9".repeat(20)]) {
    expect(() => parseCountFrom(1)(text)).toThrow("It must be a whole number of at least 1");
  }
});

test("parseStrategy() accepts shipped strategies and files", () => {
  expect(["small", "own.toml", "a/b.JSON"].map(parseStrategy)).toEqual(["small", "own.toml", "a/b.JSON"]);
  for (const text of ["", "smal", "toml"])
    expect(() => parseStrategy(text)).toThrow("It must be frontier, small, local");
});

test("parseTextOrFile() reads a file after @", () => {
  expect(parseTextOrFile("You are @home")).toBe("You are @home");
  expect(parseTextOrFile(`@${import.meta.filename}`)).toContain("reads a file after @");
  expect(() => parseTextOrFile("@/nowhere/at/all")).toThrow("there is no such file");
});

test("parseTemperature() and parseInteger() accept numbers", () => {
  expect(["0", "0.7", ".5", "2"].map(parseTemperature)).toEqual([0, 0.7, 0.5, 2]);
  for (const text of ["", "-1", "hot", "1e3"]) expect(() => parseTemperature(text)).toThrow("a number of at least 0");
  expect(["0", "-1", "42"].map(parseInteger)).toEqual([0, -1, 42]);
  for (const text of ["", "1.5", "x", "9".repeat(20)]) expect(() => parseInteger(text)).toThrow("a whole number");
});

test("parseFields() accepts a JSON object without the fields of every request", () => {
  expect(parseFields('{"top_k": 20, "a": {"b": [null]}}')).toEqual({ top_k: 20, a: { b: [null] } });
  for (const text of ["", "top_k=20", "[1]", '"a"', "null"])
    expect(() => parseFields(text)).toThrow('It must be a JSON object, such as {"top_k": 20}');
  expect(() => parseFields('{"model": "x"}')).toThrow("It may not set 'model', which is part of every request");
});

test("parseUSD() accepts positive amounts", () => {
  expect(["1", "0.50", ".5", "$2"].map(parseUSD)).toEqual([1, 0.5, 0.5, 2]);
  for (const text of ["", "0", "-1", "1e3", "5 EUR"]) expect(() => parseUSD(text)).toThrow(InvalidArgumentError);
});
