// Numbers from samples, and the race in which contenders are measured side by side.
//
// A busy machine slows whatever happens to run. Contenders therefore take turns in short rounds of shuffled order, and
// the best round of each is compared with the best of the others: somewhere each of them had the machine for itself.

export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at % 1);
}

export function median(values) {
  return quantile(values, 0.5);
}

/** The distance between the quartiles, as a share of the median. */
export function quartileSpread(values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);
}

/**
 * Runs every contender once per round. A contender is a function that measures a few times and returns its samples.
 * Returns for each name the median of every round.
 */
export async function race(contenders, rounds) {
  const names = Object.keys(contenders);
  const medians = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) await contenders[name](); // not counted: code is compiled and pages are touched
  for (let round = 0; round < rounds; round += 1) {
    for (const name of shuffle(names)) medians[name].push(median(await contenders[name]()));
  }
  return medians;
}

/** `a` over `b` in two ways: between the best rounds of each, and the median over the rounds. */
export function compare(a, b) {
  return {
    best: Math.min(...a) / Math.min(...b),
    typical: median(a.map((value, round) => value / b[Math.min(round, b.length - 1)])),
  };
}

/** Awaits `operation` `count` times and returns how long each took, in microseconds. */
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
