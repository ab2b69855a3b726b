import { cpus, loadavg } from 'node:os';

/** Returns a function that says how busy the machine was since this call. */
export function watchLoad(): () => string {
  const before = cpuTimes();
  return () => {
    const after = cpuTimes();
    const busy = 1 - (after.idle - before.idle) / (after.all - before.all);
    return `${(busy * 100).toFixed(0)} % of ${cpus().length} cores busy, load ${loadavg()[0]?.toFixed(1)}`;
  };
}

function cpuTimes(): { idle: number; all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const all = times.reduce((sum, each) => sum + Object.values(each).reduce((one, other) => one + other, 0), 0);
  return { idle, all };
}
