// Packages from a folder of wheels: those that pip would install, in all the forms that wheels have.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime, Session } from "../../internals.ts";
import { openTestRuntime, PYTHON, valueOf } from "../../open.ts";
import { hasPyodide, installWasm } from "./open-wasm.ts";

/** Python: writes wheels into a folder. */
const MAKE = `
import sys, zipfile
def make(name, version, files):
    path = f"{sys.argv[1]}/{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for each, text in files.items():
            wheel.writestr(each, text)
        wheel.writestr(f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return path
make("in_data", "1.0", {"in_data-1.0.data/purelib/in_data/__init__.py": "value = 1", "in_data-1.0.data/scripts/tool": "#!python"})
make("first", "1.0", {"shared/first.py": "value = 'first'"})
make("second", "1.0", {"shared/second.py": "value = 'second'"})
make("meta.data", "2.5", {"meta_data.py": "value = 1"})
for version in ("1.9", "1.10", "1.10rc1"):
    make("several", version, {"several.py": f"version = '{version}'"})
path = make("corrupt", "1.0", {"corrupt/__init__.py": "value = 1\\n" * 1000, "corrupt/more.py": "value = 2\\n" * 1000})
data = bytearray(open(path, "rb").read())
at = data.index(b"corrupt/more.py") + len("corrupt/more.py")
data[at:at + 8] = b"\\xff" * 8
open(path, "wb").write(data)
open(f"{sys.argv[1]}/truncated-1.0-py3-none-any.whl", "wb").write(data[:20])
`;

describe.skipIf(!hasPyodide)("a folder of wheels", { tags: "stress" }, () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-test-"));
  let runtime: Runtime;
  let session: Session;
  beforeAll(async () => {
    installWasm();
    mkdirSync(join(folder, "wheels"));
    execFileSync(PYTHON, ["-c", MAKE, join(folder, "wheels")]);
    symlinkSync(join(folder, "wheels"), join(folder, "link"));
    mkdirSync(join(folder, "bin"));
    const python = join(folder, "bin", "python3");
    symlinkSync(PYTHON, python); // no tier is known for it yet
    runtime = await openTestRuntime({
      environment: "wasm",
      python,
      poolSize: 0,
      wasm: { wheels: join(folder, "link") },
    });
    session = await runtime.openSession();
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const why = async (code: string): Promise<string> => {
    const result = await session.execute(code).result;
    return result.status === "error" ? `${result.error.name}: ${result.error.value}` : result.status;
  };

  test("opens none before a module of it is imported", async () => {
    expect(await valueOf(session, "import os; os.listdir('/lib/rlm-wheels')")).toBe("[]");
    expect(
      await valueOf(session, "from importlib.metadata import version; version('meta.data'), version('meta-data')"),
    ).toBe("('2.5', '2.5')");
  });

  test("has what is in the data of a wheel, and nothing else of it", async () => {
    expect(await valueOf(session, "import in_data; in_data.value")).toBe("1");
    expect(await valueOf(session, "os.path.exists('/lib/rlm-wheels/in_data-1.0.data')")).toBe("False");
    expect(await valueOf(session, "version('in_data')")).toBe("'1.0'");
  });

  test("has all parts of a package that several wheels share", async () => {
    expect(await valueOf(session, "import shared.second, shared.first; shared.first.value, shared.second.value")).toBe(
      "('first', 'second')",
    );
  });

  test("has the highest version of several", async () => {
    expect(await valueOf(session, "import several; several.version, version('several')")).toBe("('1.10', '1.10')");
  });

  test("a corrupt wheel fails with its name at each import, and leaves nothing behind", async () => {
    for (const name of ["corrupt", "corrupt", "truncated"]) {
      expect(await why(`import ${name}`)).toMatch(
        new RegExp(
          `^ImportError: Cannot import '${name}': the wheel '${name}-1.0-py3-none-any.whl' cannot be unpacked`,
        ),
      );
    }
    expect(await valueOf(session, "os.path.exists('/lib/rlm-wheels/corrupt')")).toBe("False");
    expect(await why("import nowhere")).toBe("ModuleNotFoundError: No module named 'nowhere'");
  });
});
