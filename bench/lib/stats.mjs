// Statistics, and the race in which contenders are measured side by side.
//
// A busy machine slows whatever is running. Contenders therefore alternate in short rounds of shuffled order, and their best
// rounds are compared: in some round each of them had the machine for itself.

export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at % 1);
}

export function median(values) {
  return quantile(values, 0.5);
}

/** The interquartile range relative to the median. */
export function quartileSpread(values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

/**
 * Runs every contender once per round. A contender is a function that returns a few samples. Returns the medians of all
 * rounds by name.
 */
export async function race(contenders, rounds) {
  const names = Object.keys(contenders);
  const medians = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) await contenders[name](); // warm-up, not counted
  for (let round = 0; round < rounds; round += 1) {
    for (const name of shuffle(names)) medians[name].push(median(await contenders[name]()));
  }
  return medians;
}

/** The ratio `a` to `b`: of their best rounds, and the median over all rounds. */
export function compare(a, b) {
  return {
    best: Math.min(...a) / Math.min(...b),
    typical: median(a.map((value, round) => value / b[Math.min(round, b.length - 1)])),
  };
}

/** Awaits `operation` `count` times and returns the times in microseconds. */
export async function timeEach(count, operation) {
  const samples = new Float64Array(count);
  for (let index = 0; index < count; index += 1) {
    const start = performance.now();
    await operation(index);
    samples[index] = (performance.now() - start) * 1000;
  }
  return samples;
}

function shuffle(values) {
  const shuffled = [...values];
  for (let index = shuffled.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    [shuffled[index], shuffled[other]] = [shuffled[other], shuffled[index]];
  }
  return shuffled;
}
