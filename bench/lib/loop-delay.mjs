// How long the event loop was held up: a timer of one millisecond, and how late it came.
//
// A machine that gives the processor to somebody else makes every timer late. The processor time that this process used
// in the longest gap tells the two apart: little of it in a long gap means that others ran.

import { quantile } from "./stats.mjs";

export function watchLoop() {
  const gaps = [];
  let last = performance.now();
  let lastCPU = cpuMs();
  let longest = { gap: 0, cpu: 0 };
  let mostCPU = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const cpu = cpuMs();
    const gap = Math.max(0, now - last - 1);
    gaps.push(gap);
    if (gap > longest.gap) longest = { gap, cpu: cpu - lastCPU };
    mostCPU = Math.max(mostCPU, Math.min(now - last, cpu - lastCPU) - 1);
    last = now;
    lastCPU = cpu;
  }, 1);
  return () => {
    clearInterval(timer);
    if (gaps.length === 0) gaps.push(performance.now() - last);
    return { maxMs: Math.max(...gaps), p999Ms: quantile(gaps, 0.999), cpuOfMaxMs: longest.cpu, busiestMs: mostCPU };
  };
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
