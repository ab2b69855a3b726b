// A program under test preloads this file: at SIGUSR2 it writes the longest CPU time that its main thread has used
// without serving a timer, since the last such line, to stderr.
const { readFileSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const INTERVAL_MS = 1;
const NS_PER_MS = 1_000_000;

const cpuNs = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ', 1)[0]);
let longestNs = 0;
let lastNs = cpuNs();

function tick() {
  const nowNs = cpuNs();
  longestNs = Math.max(longestNs, nowNs - lastNs);
  lastNs = nowNs;
  setTimeout(tick, INTERVAL_MS).unref();
}

// The program's own threads load this file too.
if (isMainThread) {
  setTimeout(tick, INTERVAL_MS).unref();
  process.on('SIGUSR2', () => {
    process.stderr.write(`longest tick: ${longestNs / NS_PER_MS}\n`);
    longestNs = 0;
  });
}
