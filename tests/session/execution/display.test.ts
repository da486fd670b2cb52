// Rich output. Tests of a library are skipped, with the reason, if it is not installed.

import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import type { MimeBundle, Runtime, Session } from "../../internals.ts";
import { begin, openTestRuntime } from "../../open.ts";

let runtime: Runtime;
let installed: readonly string[];
beforeAll(async () => {
  runtime = await openTestRuntime();
  const names = ["numpy", "pandas", "matplotlib", "PIL", "sympy", "IPython"];
  const { stdout } = await runtime.execute(
    `from importlib.util import find_spec\nprint(*[n for n in ${JSON.stringify(names)} if find_spec(n)])`,
  );
  installed = stdout.trim().split(" ");
});
afterAll(() => runtime.close());

function requires(context: TestContext, ...names: readonly string[]): void {
  const missing = names.filter((name) => !installed.includes(name));
  context.skip(missing.length > 0, `${missing.join(", ")} is not installed`);
}

async function run(session: Session, code: string) {
  const result = await session.execute(code).result;
  expect(result.error?.traceback).toBeUndefined();
  return result;
}

/** The printed text, with the text of each display in brackets, in order. */
async function story(session: Session, code: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of session.execute(code)) {
    if (event.type === "display") seen.push(`[${event.data["text/plain"] ?? ""}]`, "");
    if (event.type === "output-delta") seen.push((seen.pop() ?? "") + event.text);
  }
  return seen.filter((text) => text !== "");
}

/** Width and height of a PNG; fails for anything else. */
function sizeOf(png: string | undefined): readonly [number, number] {
  const bytes = Buffer.from(png ?? "", "base64");
  expect(bytes.subarray(1, 4).toString("latin1")).toBe("PNG");
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

const typesOf = (bundle: MimeBundle | undefined): string[] => Object.keys(bundle ?? {}).toSorted();

describe("display()", () => {
  test("is in order with the printed text", async () => {
    await using session = await runtime.openSession();
    const expected = Array.from({ length: 50 }, (_, i) => [`before ${i}\n`, `[${i}]`, `after ${i}\n`]).flat();
    const seen = await story(
      session,
      "for i in range(50):\n    print('before', i)\n    display(i)\n    print('after', i)",
    );
    expect(seen.join("")).toBe(expected.join(""));
    const children = "import os\nfor i in range(3):\n    os.system(f'echo {i}')\n    display(i)";
    expect(await story(session, children)).toEqual(["0\n", "[0]", "1\n", "[1]", "2\n", "[2]"]);
  });

  test("is in the result, beside the value", async () => {
    await using session = await runtime.openSession();
    const code =
      "class Thing:\n    def _repr_html_(self): return '<b>thing</b>'\n    def __repr__(self): return 'thing'\n";
    const bundle = { "text/plain": "thing", "text/html": "<b>thing</b>" };
    expect(await run(session, `${code}display(Thing(), 1)\nThing()`)).toMatchObject({
      value: bundle,
      displays: [bundle, { "text/plain": "1" }],
      truncated: null,
    });
  });

  test("with an id is replaced in the result, and both are in the transcript", async () => {
    await using session = await runtime.openSession();
    const code = "h = display('one', display_id=True)\ndisplay('two')\nh.update('three')";
    expect((await run(session, code)).displays).toEqual([{ "text/plain": "'three'" }, { "text/plain": "'two'" }]);
    expect(await story(session, code)).toEqual(["['one']", "['two']", "['three']"]);
    expect((await run(session, "h.update('of an earlier execution')")).displays).toEqual([]);
  });

  test("is not in the result once it is cleared", async () => {
    await using session = await runtime.openSession();
    const code =
      "from rlm_display import clear_output\nfor i in range(2000):\n    clear_output(wait=True)\n    display(i)";
    const result = await run(session, code);
    expect(result).toMatchObject({ displays: [{ "text/plain": "1999" }], truncated: null });
  });

  test("without end is limited, and what was left out is counted", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const { displays, truncated } = await run(session, "for i in range(1003): display('x')");
    const size = "text/plain'x'".length;
    expect(displays).toHaveLength(1000);
    expect(truncated).toEqual({ displays: { total: 1003 * size, omitted: 3 * size } });
    const large =
      "class Large:\n    def _repr_html_(self): return 'x' * (15 << 20)\nfor i in range(6): display(Large())";
    const result = await run(session, large);
    expect(result.displays).toHaveLength(4);
    expect(result.truncated?.displays?.omitted).toBeGreaterThan(30 << 20);
  });

  test("in a thread that outlived its execution is dropped, and the thread goes on", async () => {
    await using session = await runtime.openSession();
    const code =
      "import threading\ngo, done = threading.Event(), threading.Event()\n" +
      "def late():\n    go.wait(); display('late'); done.set()\nthreading.Thread(target=late).start()";
    await run(session, code);
    expect(await run(session, "go.set(); done.wait()")).toMatchObject({
      displays: [],
      value: { "text/plain": "True" },
    });
  });

  test("works in a fork, and after a rewind", async () => {
    await using session = await runtime.openSession();
    await run(session, "x = 1");
    const checkpoint = await session.checkpoint();
    await using fork = await session.fork();
    await run(session, "x = 2");
    await session.rewind(checkpoint);
    const expected = [{ "text/plain": "1" }];
    for (const each of [fork, session]) expect((await run(each, "display(x)")).displays).toEqual(expected);
  });

  test("of an object that never ends is stopped like any other code", { tags: "stress" }, async () => {
    await using session = await runtime.openSession();
    const code = "x = 1\nclass Slow:\n    def _repr_html_(self):\n        while True: pass\nSlow()";
    const result = await session.execute(code, { timeoutMs: 2_000 }).result;
    expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "kept" });
    expect((await run(session, "x")).value).toEqual({ "text/plain": "1" });
  });
});

describe("figures of matplotlib", () => {
  const PLOT = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nline = ax.plot([1, 3, 2])\n";

  /** Has imported matplotlib, which takes long. Tests fork it where the time of the import does not matter. */
  let ready: Session;
  beforeAll(async () => {
    ready = await runtime.openSession();
    await ready.execute("import matplotlib.pyplot").result;
  });

  test("appear at plt.show() and at the end, in order, each once, with no configuration", async (context) => {
    requires(context, "matplotlib");
    await using session = await runtime.openSession();
    const code = `${PLOT}print('a')\nplt.show()\nprint('b')\nfor n in (2, 3): plt.figure(figsize=(n, n)); plt.plot([n])\nprint('c')`;
    expect(await story(session, code)).toEqual([
      "a\n",
      "[<Figure size 640x480 with 1 Axes>]",
      "b\nc\n",
      "[<Figure size 200x200 with 1 Axes>]",
      "[<Figure size 300x300 with 1 Axes>]",
    ]);
    const next = await run(session, "len(plt.get_fignums())");
    expect(next).toMatchObject({ stderr: "", displays: [], value: { "text/plain": "0" } });
    const { displays, stderr } = await run(session, `${PLOT}plt.show()`);
    expect(stderr).toBe("");
    expect(displays.map(typesOf)).toEqual([["image/png", "text/plain"]]);
    const [width, height] = sizeOf(displays[0]?.["image/png"]);
    expect(width > 400 && width < 640 && height > 300 && height < 480).toBe(true); // tight bounding box, as in notebooks
  });

  test("as the last expression are the value, not a display", async (context) => {
    requires(context, "matplotlib");
    await using session = await ready.fork();
    const { value, displays } = await run(session, `${PLOT}fig`);
    expect([typesOf(value), displays]).toEqual([["image/png", "text/plain"], []]);
    expect((await run(session, `${PLOT}display(fig)`)).displays).toHaveLength(1);
    expect((await run(session, `${PLOT}display(fig)\nax.set_title('later')\n0`)).displays).toHaveLength(2);
    expect((await run(session, `${PLOT}plt.close()`)).displays).toHaveLength(0);
    expect((await run(session, "plt.figure()\n0")).displays).toHaveLength(0);
  });

  test("appear when the code fails, and stay open after an interrupt", async (context) => {
    requires(context, "matplotlib");
    await using session = await ready.fork();
    expect((await session.execute(`${PLOT}1/0`).result).displays).toHaveLength(1);
    const endless = await begin(session, `${PLOT}print('drawn', flush=True)\nwhile True: pass`);
    session.interrupt();
    expect(await endless.result).toMatchObject({ status: "interrupted", displays: [] });
    expect((await run(session, "0")).displays).toHaveLength(1);
  });

  test("that cannot be drawn report why, and have their text", async (context) => {
    requires(context, "matplotlib");
    await using session = await ready.fork();
    const { displays, stderr } = await run(session, `${PLOT}ax.set_title(r'$\\nothing{$')\n0`);
    expect(displays.map(typesOf)).toEqual([["text/plain"]]);
    expect(stderr).toContain("showing a Figure failed");
  });

  test(
    "are SVG, PDF or high-resolution PNG on request, once or until the reset of the session",
    { tags: "stress" },
    async (context) => {
      requires(context, "matplotlib");
      await using session = await runtime.openSession();
      const svg = await run(session, `${PLOT}display(fig, include=['image/svg+xml'])`);
      expect(typesOf(svg.displays[0])).toEqual(["image/svg+xml", "text/plain"]);
      expect(svg.displays[0]?.["image/svg+xml"]).toContain("<svg");
      const [plain] = sizeOf((await run(session, `${PLOT}fig`)).value?.["image/png"]);
      const formats = "from rlm_display import set_figure_formats\nset_figure_formats";
      const both = await run(session, `${formats}('retina', 'svg')\n${PLOT}fig`);
      expect(typesOf(both.value)).toEqual(["image/png", "image/svg+xml", "text/plain"]);
      const [sharp] = sizeOf(both.value?.["image/png"]);
      expect(Math.abs(sharp - 2 * plain)).toBeLessThan(5);
      await session.reset();
      expect(typesOf((await run(session, `${PLOT}fig`)).value)).toEqual(["image/png", "text/plain"]);
      expect(await session.execute(`${formats}('bmp')`).result).toMatchObject({ error: { name: "ValueError" } });
    },
  );

  test(
    "appear under another backend, too, and child processes have the usual one",
    { tags: "stress" },
    async (context) => {
      requires(context, "matplotlib");
      await using session = await runtime.openSession();
      const agg = await run(session, `import matplotlib\nmatplotlib.use('Agg')\n${PLOT}plt.show()`);
      expect(agg).toMatchObject({ stderr: "", displays: [{ "image/png": expect.any(String) }] });
      const child = "import subprocess, sys\ncode = 'import matplotlib.pyplot as p; print(p.get_backend())'\n";
      const { stdout } = await run(session, `${child}p = subprocess.run([sys.executable, '-c', code])`);
      expect(stdout.trim().toLowerCase()).toBe("agg");
    },
  );

  test("leave the session's files alone", { tags: "stress" }, async (context) => {
    requires(context, "matplotlib");
    await using session = await runtime.openSession();
    expect((await run(session, `${PLOT}plt.show()\nimport os\nos.listdir()`)).value).toEqual({
      "text/plain": "[]",
    });
  });

  test("appear when pyplot was preloaded, which leaves nothing on the host", { tags: "stress" }, async (context) => {
    requires(context, "matplotlib");
    const leftovers = (): string[] => readdirSync(tmpdir()).filter((name) => name.includes("matplotlib"));
    const before = leftovers();
    await using warm = await openTestRuntime({ preload: ["matplotlib.pyplot"] });
    await warm.warm();
    await expect.poll(() => warm.report().preloaded).toEqual(["matplotlib.pyplot"]);
    const result = await warm.execute(`${PLOT}plt.show()\nfig.savefig('x.png')`);
    expect(result).toMatchObject({ status: "ok", stderr: "", displays: [{ "image/png": expect.any(String) }] });
    expect(leftovers()).toEqual(before);
  });
});

describe("tables", () => {
  const DATA = "application/vnd.dataresource+json";
  const parse = (bundle: MimeBundle | undefined) =>
    JSON.parse(bundle?.[DATA] ?? "null") as {
      schema: { fields: { name: string; type: string }[] };
      data: Record<string, unknown>[];
      totalRows: number;
      totalColumns: number;
    };

  test("of pandas are text, HTML and data", async (context) => {
    requires(context, "pandas");
    await using session = await runtime.openSession();
    const { value } = await run(
      session,
      "import pandas as pd\npd.DataFrame({'n': range(3000), 's': ['é', None, 'z'] * 1000, 'd': pd.Timestamp('2020-01-02')})",
    );
    expect(typesOf(value)).toEqual([DATA, "text/html", "text/plain"]);
    expect(value?.["text/plain"]).toContain("[3000 rows x 3 columns]");
    expect(value?.["text/html"]).toContain("<table");
    const { schema, data, totalRows, totalColumns } = parse(value);
    expect(schema.fields).toMatchObject([
      { name: "index", type: "integer" },
      { name: "n", type: "integer" },
      { name: "s", type: "string" },
      { name: "d", type: "datetime" },
    ]);
    expect([data.length, totalRows, totalColumns]).toEqual([1000, 3000, 3]);
    expect(data[1]).toMatchObject({ n: 1, s: null, d: expect.stringMatching(/^2020-01-02T/) });
    const series = (await run(session, "pd.Series([1.5, float('nan')], name='v')")).value;
    expect(typesOf(series)).toEqual([DATA, "text/html", "text/plain"]);
    expect(parse(series).data).toMatchObject([{ v: 1.5 }, { v: null }]);
  });

  test("of pandas with unusual names, contents and sizes are data, too", async (context) => {
    requires(context, "pandas");
    await using session = await runtime.openSession();
    await run(session, "import pandas as pd, numpy as np");
    const of = async (code: string) => parse((await run(session, code)).value);
    const twice = await of("pd.DataFrame([[1, 2]], columns=['a', 'a'])");
    expect(twice.data).toEqual([{ index: 0, a: 1, "a (2)": 2 }]);
    const levels = await of("pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([('a', 'b')]))");
    expect(levels.data).toMatchObject([{ "('a', 'b')": 1 }]);
    expect((await of("pd.DataFrame({'a': [1]}, index=pd.Index([2], name='a'))")).data).toEqual([{ index: 0, a: "1" }]);
    expect((await of("pd.DataFrame({'o': [object(), {1: 2}, [3]]})")).data).toHaveLength(3);
    const wide = await of("pd.DataFrame(np.zeros((1000, 2000)))");
    expect([wide.data.length, wide.schema.fields.length, wide.totalRows, wide.totalColumns]).toEqual([
      200, 501, 1000, 2000,
    ]);
    expect(typesOf((await run(session, "pd.DataFrame()")).value)).toContain("text/html");
  });
});

describe("other libraries", () => {
  test("numpy arrays are text", async (context) => {
    requires(context, "numpy");
    await using session = await runtime.openSession();
    expect((await run(session, "import numpy as np\nnp.arange(3)")).value).toEqual({
      "text/plain": "array([0, 1, 2])",
    });
  });

  test(
    "Pillow images are PNG, with unsupported modes converted and large images scaled down",
    { tags: "stress" },
    async (context) => {
      requires(context, "PIL");
      await using session = await runtime.openSession();
      const png = async (code: string) =>
        sizeOf((await run(session, `from PIL import Image\n${code}`)).value?.["image/png"]);
      expect(await png("Image.new('RGB', (20, 10), 'red')")).toEqual([20, 10]);
      expect(await png("Image.new('CMYK', (20, 10))")).toEqual([20, 10]);
      const [width, height] = await png("Image.new('L', (10000, 5000))");
      expect([width * height <= 16 << 20, width / height]).toEqual([true, expect.closeTo(2, 2)]);
      const noise = "import os\nImage.frombytes('RGB', (2000, 2000), os.urandom(12000000))";
      expect(await png(noise)).toEqual([1000, 1000]);
    },
  );

  test("sympy is LaTeX", async (context) => {
    requires(context, "sympy");
    await using session = await runtime.openSession();
    expect((await run(session, "import sympy\nsympy.sqrt(sympy.Symbol('x'))")).value).toEqual({
      "text/plain": "sqrt(x)",
      "text/latex": "$\\displaystyle \\sqrt{x}$",
    });
  });

  test("IPython.display works without IPython, by classes that need no file in the sandbox", async () => {
    await using session = await runtime.openSession();
    const code =
      "import sys\nsys.path[:] = [path for path in sys.path if 'packages' not in path]\n" +
      "from IPython.display import display, HTML, Markdown\ndisplay(HTML('<b>'))\nMarkdown('# m')";
    const { displays, value } = await run(session, code);
    expect([displays[0]?.["text/html"], value?.["text/markdown"]]).toEqual(["<b>", "# m"]);
  });

  test("IPython's display() is replaced by ours", { tags: "stress" }, async (context) => {
    requires(context, "IPython", "matplotlib");
    await using session = await runtime.openSession();
    const code =
      "from IPython.display import display, HTML, Image, clear_output, set_matplotlib_formats, update_display\n" +
      "h = display(HTML('<b>'), display_id='d')\nupdate_display(HTML('<i>'), display_id='d')\nclear_output()\n" +
      "display(HTML('<u>'))\nset_matplotlib_formats('svg')\nimport IPython\nprint(IPython.get_ipython())\n" +
      "import matplotlib.pyplot as plt\nplt.plot([1]); plt.show()";
    const { displays, stdout } = await run(session, code);
    expect(stdout).toBe("None\n");
    expect(displays.map(typesOf)).toEqual([
      ["text/html", "text/plain"],
      ["image/svg+xml", "text/plain"],
    ]);
  });
});
