// How long the event loop was blocked: the delay of a timer of one millisecond.
//
// Other processes also delay timers, so the CPU time of this process is recorded too: the smaller of the two is the delay
// that this process caused.

import { quantile } from "./stats.mjs";

export function watchLoop() {
  const gaps = [];
  let last = performance.now();
  let lastCPU = cpuMs();
  let ownMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const cpu = cpuMs();
    const late = Math.max(0, now - last - 1);
    gaps.push(late);
    ownMs = Math.max(ownMs, Math.min(late, cpu - lastCPU));
    last = now;
    lastCPU = cpu;
  }, 1);
  return () => {
    clearInterval(timer);
    if (gaps.length === 0) gaps.push(performance.now() - last);
    return { ownMs, p999Ms: quantile(gaps, 0.999), maxMs: gaps.reduce((a, b) => Math.max(a, b)) };
  };
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
