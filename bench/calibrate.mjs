// The speed of this machine without our code: the scale for the other results.

import { openEcho } from "./lib/channel.mjs";
import { watchLoop } from "./lib/loop-delay.mjs";
import { pin, start, within } from "./lib/processes.mjs";
import { quartileSpread, race, timeEach } from "./lib/stats.mjs";

const LINE = "a line of about the length of a command, which is fifty-five.\n";

export async function measure({ quick, scale, delay }) {
  const stopWatching = watchLoop();
  await new Promise((resolve) => setTimeout(resolve, quick ? 500 : 1000));
  delay("idle", stopWatching());

  pin();
  const near = await openEcho();
  const far = await openEcho({ core: 0 });
  const source = Buffer.alloc(32 * 2 ** 20, 1);
  const target = Buffer.alloc(source.length);
  const medians = await race(
    {
      "echo, same core": () => timeEach(200, () => near.echo(LINE)),
      "echo, across cores": () => timeEach(50, () => far.echo(LINE)),
      "spawn of `true`": () => timeEach(5, spawnTrue),
      "copy of 32 MiB": () => timeEach(3, () => source.copy(target)),
    },
    quick ? 5 : 10,
  );
  for (const [what, values] of Object.entries(medians)) {
    scale({ what, us: Math.min(...values), spread: quartileSpread(values) });
  }
}

function spawnTrue() {
  const child = start("true", [], { stdio: "ignore" });
  return within(5000, "a spawn", new Promise((resolve) => child.once("exit", resolve)));
}
