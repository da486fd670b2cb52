// The layers of ARCHITECTURE.md as data, checked against the actual imports.
//
// A new folder or top-level file in src/ needs an entry: deciding what it may import is the point.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn, importsOf, ROOT as root, type Import } from "./imports.ts";

interface Layer {
  /** Layers, folders or files that it may import, besides itself. */
  readonly imports: readonly string[];
  /** Layers of which it may import types, and nothing that exists at run time. */
  readonly types?: readonly string[];
  /** Absent: it may use Node's modules. */
  readonly node?: false;
}

const ground = ["errors.ts", "util", "protocol", "api"];
/** What an environment is, without any that exists. */
const contract = ["environments/environment.ts", "environments/capabilities.ts"];
const parts = ["environments", "output", "backends", "store", "tools", "kernel", "tasks", "session", "rlm"];
/** What the servers and the command line may import at run time. */
const frontEnd = [
  "runtime.ts",
  "views",
  "config",
  "store",
  "environments/mounts.ts",
  "environments/registry.ts",
  "session/options.ts",
  "session/default-limits.ts",
  ...ground,
];
const serverParts = ["server/net", "server/observability"];
const serverContext = ["server/context", ...serverParts];

/** By folder or file in src/. The longest matching entry is the layer of a file. */
const layers: Readonly<Record<string, Layer>> = {
  "errors.ts": { imports: [] },
  util: { imports: [] },
  // Files that a person has written, and what is wrong with them.
  "util/toml": { imports: ["errors.ts", "util"] },
  protocol: { imports: [], node: false },
  // What is public of it.
  "protocol/index.ts": { imports: ["protocol"], types: ["api/schema.ts"], node: false },
  // The interfaces that callers hold; those of a runtime on this machine name types of what is below.
  api: {
    imports: ["errors.ts", "protocol", "util/text/did-you-mean.ts", "util/check-number.ts", "util/python-name.ts"],
    types: ["backends", "tools", "environments/environment.ts"],
    node: false,
  },
  environments: { imports: ["environments/registry.ts", ...ground] },
  "environments/registry.ts": { imports: ["environments", ...ground] },
  "environments/local": {
    imports: [
      ...contract,
      "environments/mounts.ts",
      "environments/linux-advice.ts",
      "environments/bubblewrap.ts",
      "environments/python-folder.ts",
      ...ground,
    ],
  },
  "environments/wasm": {
    imports: [
      ...contract,
      "environments/local",
      "environments/mounts.ts",
      "environments/bubblewrap.ts",
      "environments/python-folder.ts",
      ...ground,
    ],
  },
  // The same fork server, in a container.
  "environments/docker": {
    imports: [...contract, "environments/local", "environments/mounts.ts", "environments/python-folder.ts", ...ground],
    types: ["environments/registry.ts"],
  },
  backends: { imports: ground },
  store: { imports: ground },
  config: {
    imports: [
      "backends/provider-table.ts",
      "backends/models/resolve-model.ts",
      "backends/providers/extra-body.ts",
      "environments/registry.ts",
      ...ground,
    ],
    types: ["backends"],
  },
  tools: { imports: ground },
  output: { imports: ground },
  kernel: { imports: ["environments/environment.ts", "output", ...ground] },
  tasks: { imports: ["environments/environment.ts", "output", ...ground] },
  session: { imports: ["kernel", "tasks", ...contract, "output", ...ground], types: ["environments/registry.ts"] },
  rlm: { imports: ["session", "tools", "backends", ...ground] },
  "runtime-options.ts": { imports: [...parts, ...ground] },
  "runtime.ts": { imports: ["runtime-options.ts", ...parts, ...ground] },
  "server/net": { imports: frontEnd, types: parts },
  "server/observability": { imports: ["server/net", ...frontEnd], types: parts },
  "server/context": { imports: [...serverParts, ...frontEnd], types: parts },
  "server/http": { imports: [...serverContext, ...frontEnd], types: parts },
  "server/ws": { imports: [...serverContext, ...frontEnd], types: parts },
  "server/mcp": { imports: [...serverParts, ...frontEnd], types: parts },
  server: { imports: ["server/mcp", ...serverContext, ...frontEnd], types: parts },
  client: {
    imports: ["api", "errors.ts", "protocol", "util/parse-json.ts", "util/omit-undefined.ts"],
    node: false,
  },
  cli: {
    imports: ["server", "client", "backends", "rlm/strategy/read-strategy.ts", ...frontEnd],
    types: ["runtime-options.ts", ...parts],
  },
  views: { imports: ["runtime.ts", "store", ...ground], types: parts },
  sdk: {
    imports: ["runtime.ts", "views", ...ground],
    types: ["runtime-options.ts", ...parts],
  },
  testing: { imports: ["backends/scripted", ...ground] },
  "index.ts": {
    imports: ["sdk", "tools", "session/default-limits.ts", "rlm/strategy/strategies.ts", ...ground],
    types: parts,
  },
};

/** What the folders of the two Python packages may import; the files beside them may import everything. */
const pythonLayers: Readonly<Record<string, readonly string[]>> = {
  "worker/report": [],
  "worker/io": [],
  "worker/branch": ["io", "report"],
  "worker/process": ["io", "branch"],
  "worker/display": ["io", "report"],
  "worker/saving": ["cells", "io", "report"],
  "worker/variables": ["io"],
  "worker/inspection": ["io", "branch"],
  "worker/notebook": ["inspection", "report"],
  "worker/rlm": ["inspection", "io"],
  "worker/wasm": [
    "io",
    "report",
    "process",
    "display",
    "inspection",
    "notebook",
    "kernel",
    "state",
    "worker",
    "shell_lines",
  ],
  "forkserver/libc": [],
  "forkserver/descriptors": ["libc"],
  "forkserver/sandbox": ["libc"],
  "forkserver/processes": ["sandbox", "libc", "descriptors"],
  "forkserver/files": ["processes", "libc"],
  "forkserver/bwrap": ["processes", "sandbox", "libc"],
  "forkserver/container": ["files", "processes", "sandbox", "libc"],
  "forkserver/seatbelt": ["files", "processes", "pipes", "wakeup", "descriptors", "worker"],
};

const maxLines = 400;
/** Every error, in one file that can be read at once. */
const isLonger = new Set(["src/errors.ts"]);
/** A folder with more files has a second subject. */
const maxFiles = 14;

describe("src/", () => {
  const sources = readSources();

  test("imports follow the table of layers", () => {
    expect(Object.keys(sources).length, "number of files read").toBeGreaterThan(0);
    expect(violations(sources)).toEqual([]);
  });

  test.each(["index.ts", "client/index.ts", "protocol/index.ts", "testing/index.ts"])(
    "%s lists every public name",
    (entry) => {
      const stars = importsOf(`src/${entry}`, sources[`src/${entry}`] ?? "").filter(({ star }) => star);
      expect(stars.map(({ specifier }) => `export * from "${specifier}"`)).toEqual([]);
    },
  );

  test(`no file has more than ${maxLines} lines`, () => {
    const lengths = Object.entries(sources).map(([file, source]) => ({ file, lines: source.split("\n").length - 1 }));
    expect(lengths.filter(({ file, lines }) => lines > maxLines && !isLonger.has(file))).toEqual([]);
  });
});

describe.each(["src", "python", "tests", "web"])("%s/", (tree) => {
  test(`no folder has more than ${maxFiles} files`, () => {
    const files = [".ts", ".tsx", ".py"].flatMap((ending) => filesIn(tree, ending));
    // An index lists the public names of the others.
    const subjects = files.filter((file) => posix.basename(file) !== "index.ts");
    const count = (folder: string): number => subjects.filter((file) => posix.dirname(file) === folder).length;
    const folders = [...new Set(files.map((file) => posix.dirname(file)))];
    expect(folders.filter((folder) => count(folder) > maxFiles)).toEqual([]);
  });
});

describe("the check itself", () => {
  test.each([
    ["an import upwards", "rlm/x.ts", `import { y } from "../runtime.ts";`, "rlm may import session, tools, backends"],
    ["an import past a layer", "rlm/x.ts", `import { y } from "../kernel/y.ts";`, "rlm may import session, tools"],
    [
      "an import of a type",
      "kernel/x.ts",
      `import type { Y } from "../session/y.ts";`,
      "kernel may import environments",
    ],
    ["an import across subfolders", "server/mcp/x.ts", `import "../http/y.ts";`, "server/mcp may import server/net"],
    ["a type import in place", "util/x.ts", `type Y = import("../errors.ts").Y;`, "util may import nothing of ours"],
    ["a re-export", "tools/x.ts", `export { y } from "../store/y.ts";`, "tools may import errors.ts, util, protocol"],
    ["a dynamic import", "kernel/x.ts", "const y = await import(`../tasks/y.ts`);", "kernel may import environments"],
    ["a value where types are allowed", "index.ts", `export { y } from "./kernel/y.ts";`, "index.ts may import sdk"],
    ["Node in the protocol", "protocol/x.ts", `import { join } from "path";`, "protocol uses nothing of Node's"],
    ["a file outside src", "util/x.ts", `import p from "../../package.json";`, "src/ imports only what is in src/"],
    ["an unknown layer", "extras/x.ts", "export {};", "not in the table of layers"],
    ["a syntax error", "util/x.ts", "import {", "does not parse"],
  ])("finds %s", (_, file, source, message) => {
    expect(violations({ [`src/${file}`]: source })).toEqual([expect.stringContaining(message)]);
  });

  test("says who imports whom, and what would be allowed", () => {
    expect(violations({ "src/kernel/deep/x.ts": `import "../../session/y.ts";` })).toEqual([
      "src/kernel/deep/x.ts imports src/session/y.ts: kernel may import environments/environment.ts, output, errors.ts, util, protocol, api",
    ]);
  });

  test("accepts what the table allows", () => {
    const sources = {
      "src/session/a.ts": `import { b } from "./b.ts"; import "../kernel/k.ts"; import { z } from "zod"; import "node:fs";`,
      "src/index.ts": `export type { Session } from "./session/a.ts"; export { openRuntime } from "./sdk/runtime.ts";`,
    };
    expect(violations(sources)).toEqual([]);
  });
});

describe("python/", () => {
  const files = filesIn("python", ".py");
  const { imports, own, standard } = pythonImports(files);

  test("folders follow the table of layers", () => {
    const folders = files.map((file) => file.split("/").slice(1, 3).join("/")).filter((name) => !name.endsWith(".py"));
    expect(
      [...new Set(folders)].filter((folder) => !(folder in pythonLayers)),
      "not in the table",
    ).toEqual([]);
    const crossings = own.filter(([file, target]) => {
      const [, name, part = ""] = file.replace(/\.py$/, "").split("/");
      const allowed = pythonLayers[`${name}/${part}`];
      return allowed !== undefined && ![part, ...allowed].includes(target);
    });
    expect(crossings.map(([file, target]) => `${file} imports ${target}`)).toEqual([]);
  });

  test(`no file has more than ${maxLines} lines`, () => {
    const lengths = files.map((file) => ({
      file,
      lines: readFileSync(join(root, file), "utf8").split("\n").length - 1,
    }));
    expect(lengths.filter(({ lines }) => lines > maxLines)).toEqual([]);
  });

  test("the worker imports the standard library and itself, nothing else", ({ skip }) => {
    if (standard === null) return skip("Python before 3.10 does not know the names of its standard library");
    const names = files.flatMap((file) => file.replace(/\.py$/, "").split("/"));
    // The worker loads itself under a private name, so that user modules cannot shadow it.
    const known = new Set([
      ...standard,
      ...names,
      "_rlm_worker",
      "_rlm_forkserver",
      "rlm_display",
      "rlm_host",
      "rlm_answers",
      "rlm_batches",
      "rlm_context",
      "rlm_child_contexts",
      "rlm_session",
      "rlm_shapes",
      "rlm_texts",
      "rlm_totals",
      "annotationlib", // of the standard library since Python 3.14
    ]);
    // These run only inside the named library, or in its place.
    const lent = [
      "python/worker/display/pyplot_backend.py imports matplotlib",
      "python/worker/display/ipython_display.py imports IPython",
    ];
    const others = imports
      .filter(([, module]) => !known.has(module))
      .map(([file, module]) => `${file} imports ${module}`);
    expect(others.filter((line) => !lent.includes(line))).toEqual([]);
  });
});

/** One line per import that the table forbids. */
function violations(sources: Readonly<Record<string, string>>): string[] {
  return Object.entries(sources).flatMap(([file, source]) => {
    const name = layerOf(file);
    const layer = layers[name];
    if (layer === undefined) return [`${file}: "${name}" is not in the table of layers, tests/architecture.test.ts`];
    try {
      return importsOf(file, source).flatMap((found) => violation(file, name, layer, found) ?? []);
    } catch (error) {
      return [String(error)];
    }
  });
}

function violation(file: string, name: string, layer: Layer, found: Import): string | undefined {
  const { specifier, typeOnly } = found;
  if (isBuiltin(specifier)) {
    return layer.node === false ? `${file} imports ${specifier}: ${name} uses nothing of Node's` : undefined;
  }
  if (!specifier.startsWith(".")) return undefined;
  const target = posix.join(posix.dirname(file), specifier);
  if (!target.startsWith("src/")) return `${file} imports ${target}: src/ imports only what is in src/`;
  const imported = layerOf(target);
  const allowed = [...layer.imports, ...(typeOnly ? (layer.types ?? []) : [])];
  if (imported === name || allowed.some((entry) => isIn(target, entry))) return undefined;
  const types = layer.types?.map((other) => `types of ${other}`) ?? [];
  const words = [...layer.imports, ...types].join(", ") || "nothing of ours";
  return `${file} imports ${target}: ${name} may import ${words}`;
}

/** The longest entry that contains the file; else the folder or file in src/ that needs an entry. */
function layerOf(file: string): string {
  const entries = Object.keys(layers).filter((entry) => isIn(file, entry));
  return entries.toSorted((a, b) => b.length - a.length)[0] ?? file.split("/")[1] ?? file;
}

function isIn(file: string, entry: string): boolean {
  return file === `src/${entry}` || file.startsWith(`src/${entry}/`);
}

function readSources(): Record<string, string> {
  return Object.fromEntries(filesIn("src", ".ts").map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

/**
 * What Python files import: `imports` as [file, top-level module], `own` as [file, folder or file of its own package], and
 * the names of the standard library where Python knows them.
 */
function pythonImports(files: readonly string[]): {
  imports: [string, string][];
  own: [string, string][];
  standard: string[] | null;
} {
  const script = `
import ast, json, sys
imports, own = [], []
for file in sys.argv[1:]:
    with open(file, encoding="utf-8") as source:
        for node in ast.walk(ast.parse(source.read(), file)):
            if isinstance(node, ast.Import):
                imports += [[file, name.name.split(".")[0]] for name in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imports.append([file, node.module.split(".")[0]])
                if node.module.startswith("_rlm_"):
                    own.append([file, [*node.module.split("."), node.names[0].name][1]])
            elif isinstance(node, ast.ImportFrom):
                package = file.split("/")[2:-1]
                parts = package[:len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
                own += [[file, [*parts, name.name][0]] for name in node.names]
names = getattr(sys, "stdlib_module_names", None)
print(json.dumps({"imports": imports, "own": own, "standard": names and sorted(names)}))`;
  const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  const output = execFileSync(python, ["-I", "-c", script, ...files], { cwd: root, encoding: "utf8" });
  return JSON.parse(output) as ReturnType<typeof pythonImports>;
}
