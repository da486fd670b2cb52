// A server that was used for a while: sessions with output of every kind, tasks in every state.

import { spawnSync } from "node:child_process";
import type { Runtime, Session } from "../../src/client/index.ts";
import { PYTHON } from "../open.ts";

export const hasPandas = spawnSync(PYTHON, ["-c", "import numpy, pandas, matplotlib"]).status === 0;

const CELLS: readonly string[] = [
  'import random\n\nrandom.seed(7)\nships = ["Aurora", "Brigid", "Corvus", "Dorada"]\ncargo = {ship: random.randrange(100, 900) for ship in ships}\ncargo',
  'import sys\n\nfor ship in ships:\n    print(f"{ship:<8} {cargo[ship]:>4}")\nprint("warning: the log of the Estrel is missing", file=sys.stderr)',
  'print("\\x1b[1;32mpassed\\x1b[0m 41  \\x1b[1;31mfailed\\x1b[0m 1  \\x1b[33mskipped\\x1b[0m 3")',
  'def mean(values):\n    """The arithmetic mean of some numbers."""\n    return sum(values) / len(values)\n\nclass Harbour:\n    def __init__(self, name):\n        self.name = name\n\nharbour = Harbour("north")\nmean(cargo.values())',
  'def unload(ship, count):\n    if count > cargo[ship]:\n        raise ValueError(f"the {ship} has only {cargo[ship]} lanterns, not {count}")\n    cargo[ship] -= count\n\nunload("Corvus", 5_000)',
];
const PANDAS_CELLS: readonly string[] = [
  'import numpy as np\nimport pandas as pd\n\ndays = pd.date_range("2026-03-01", periods=400, freq="D")\nlog = pd.DataFrame({"day": days, "ship": [ships[n % 4] for n in range(400)], "lanterns": np.random.default_rng(1).integers(0, 90, 400), "tonnes": np.random.default_rng(2).normal(40, 12, 400).round(2)})\nlog',
  'import matplotlib.pyplot as plt\n\nfigure, axes = plt.subplots(figsize=(6, 2.8))\nlog.groupby("ship")["lanterns"].sum().plot.bar(ax=axes, rot=0, color="#4a7ebb")\naxes.set_ylabel("lanterns")\nplt.show()',
];

export interface Scene {
  readonly session: string;
  readonly runningTask: string;
  readonly endedTask: string;
}

export async function setScene(runtime: Runtime): Promise<Scene> {
  const session = await runtime.openSession({ id: "harbour", autoCheckpoint: false });
  for (const code of CELLS) await session.execute(code);
  if (hasPandas) for (const code of PANDAS_CELLS) await session.execute(code);
  await session.checkpoint();
  await session.execute('cargo["Estrel"] = 12');
  await session.files.write("notes/log.txt", new TextEncoder().encode("Day 1: fog until noon\n"));
  await session.files.write("cargo.csv", new TextEncoder().encode("ship,lanterns\nAurora,120\n"));
  await session.fork({ id: "harbour-what-if" });
  await runtime.openSession({ id: "scratch" });
  return { session: "harbour", ...(await startTasks(session)) };
}

async function startTasks(session: Session): Promise<Omit<Scene, "session">> {
  const ended = session.shell(
    "for n in 1 2 3; do printf '\\033[36mstep %s\\033[0m of 3\\n' $n; done; echo 'one warning' >&2",
    { id: "t-build" },
  );
  await ended;
  await session.shell("echo 'no such target' >&2; exit 2", { id: "t-failed" });
  const running = session.shell('echo "listening"; while read line; do echo "got $line"; done', {
    id: "t-listening",
    stdin: "open",
  });
  for await (const event of running) if (event.type === "output-delta") break;
  return { runningTask: running.id, endedTask: ended.id };
}
