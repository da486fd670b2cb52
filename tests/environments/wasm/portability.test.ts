// What leaves and enters the environment: session files to and from `local`, and packages.

/** @module-tag stress */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime, PYTHON, valueOf } from "../../open.ts";
import { hasPyodide, installWasm } from "./open-wasm.ts";

const DEFINITIONS = `
import dataclasses, enum, collections, contextlib, datetime, functools, pathlib, re, typing
values = [1, 2.5, "é", b"x", None, {"a": (1, 2)}, {3}, datetime.date(2020, 2, 29), pathlib.PurePosixPath("a"), re.compile("a+")]
def counter(start=0, *, step=1):
    n = start
    def up():
        nonlocal n
        n += step
        return n
    def peek(): return n
    return up, peek
up, peek = counter(5, step=2); up()
class Shape:
    sides: int = 0
    def __init__(self, size): self.size = size
    def area(self): return 0
    @property
    def label(self): return f"{type(self).__name__} {self.area()}"
    @classmethod
    def unit(cls): return cls(1)
class Square(Shape):
    sides = 4
    def __init__(self, size): super().__init__(size)
    def area(self): return self.size ** 2
square = Square(3)
@dataclasses.dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 2
    tags: list = dataclasses.field(default_factory=list, compare=False)
points = {Point(1): "a", Point(3): "b"}
class Row(typing.NamedTuple):
    a: int
    b: str = "b"
row = Row(1)
class Color(enum.Enum):
    RED = 1
    BLUE = 2
colors = {Color.RED: "r"}
double, triple = lambda n: n * 2, lambda n: n * 3
async def later(n): return n + 1
def numbers(n):
    yield from range(n)
async def letters():
    yield "a"
@functools.lru_cache
def cached(n): return n + 1
@contextlib.contextmanager
def managed():
    yield 7
def decorate(f):
    @functools.wraps(f)
    def inner(*args): return f(*args) + 1
    return inner
@decorate
def decorated(n): return n
def fails():
    return 1 / 0  # here
opened = open("/dev/null")
started = numbers(3)
`;
const CHECKS = [
  ["values[:5], values[7].year, values[8].name, values[9].pattern", "([1, 2.5, 'é', b'x', None], 2020, 'a', 'a+')"],
  ["up(), peek(), counter()[0]()", "(9, 9, 1)"],
  [
    "square.label, Square.unit().label, isinstance(square, Shape), Shape.__annotations__",
    "('Square 9', 'Square 1', True, {'sides': <class 'int'>})",
  ],
  [
    "points[Point(1)], Point(0) < Point(1), Point(1, 5), Point(1).tags is Point(1).tags",
    "('a', True, Point(x=1, y=5, tags=[]), False)",
  ],
  ["row, row._replace(a=2), Row._make([5, 'c'])", "(Row(a=1, b='b'), Row(a=2, b='b'), Row(a=5, b='c'))"],
  ["colors[Color(1)], Color['BLUE'].name, Color.RED is Color(1)", "('r', 'BLUE', True)"],
  ["double(2), triple(2), await later(1), list(numbers(2)), [x async for x in letters()]", "(4, 6, 2, [0, 1], ['a'])"],
  ["cached(1), decorated(1), decorated.__name__", "(2, 2, 'decorated')"],
  ["with managed() as seven: pass\nseven", "7"],
] as const;

describe.skipIf(!hasPyodide)("portability of wasm sessions", () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-test-"));
  let runtime: Runtime;
  beforeAll(async () => {
    installWasm();
    runtime = await openTestRuntime({ environment: "wasm", poolSize: 0 });
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ["local", "wasm"],
    ["wasm", "local"],
    ["wasm", "wasm"],
  ])("what is saved in %s is loaded in %s, with functions and classes", async (from, to) => {
    const path = join(folder, `${from}-${to}.rlm`);
    await using source = await runtime.openSession({ environment: from });
    expect(await source.execute(DEFINITIONS).result).toMatchObject({ status: "ok" });
    expect((await source.save(path)).skipped.map(({ name }) => name)).toEqual(["opened", "started"]);
    await using target = await runtime.loadSession(path, { environment: to });
    expect(target.loaded?.skipped).toEqual([]);
    for (const [code, value] of CHECKS) expect(await valueOf(target, code), code).toBe(value);
    const { error } = await target.execute("fails()").result;
    expect(error?.traceback).toContain("return 1 / 0  # here");
  });

  test.each([
    ["local", "wasm"],
    ["wasm", "local"],
  ])("functions without source that are saved in %s are listed in %s, with both versions", async (from, to) => {
    const path = join(folder, `${from}-${to}-without.rlm`);
    await using source = await runtime.openSession({ environment: from });
    await source.execute("exec('def f(): return 1')\nholder = [f]\nrest = 2").result;
    const version = "__import__('sys').version_info[:2]";
    await source.save(path);
    await using target = await runtime.loadSession(path, { environment: to });
    if ((await valueOf(source, version)) === (await valueOf(target, version))) return; // nothing to compile
    const why = expect.stringMatching(
      /^function 'f' was compiled by Python 3\.\d+, this session runs Python 3\.\d+, and its source is not in the file$/,
    );
    expect(target.loaded).toMatchObject({
      names: ["rest"],
      skipped: [
        { name: "f", why },
        { name: "holder", why },
      ],
    });
  });

  test("packages come from a folder of wheels, and nowhere else", async () => {
    const wheels = join(folder, "wheels");
    mkdirSync(wheels);
    const make = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('greeting/__init__.py', 'text = "from a wheel"')
    wheel.writestr('greeting-1.0.dist-info/METADATA', 'Name: greeting')`;
    execFileSync(PYTHON, ["-c", make, join(wheels, "greeting-1.0-py3-none-any.whl")]);
    await using withWheels = await openTestRuntime({ environment: "wasm", poolSize: 0, wasm: { wheels } });
    await using session = await withWheels.openSession();
    expect(await valueOf(session, "import greeting; greeting.text")).toBe("'from a wheel'");
    await using without = await runtime.openSession();
    expect(await without.execute("import greeting").result).toMatchObject({ error: { name: "ModuleNotFoundError" } });
  });
});
