// A program under test preloads this file: at SIGUSR2 it collects garbage and writes the number of its timers and a line to stderr.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  process.stderr.write(`timers: ${timers}\ngarbage collected\n`);
});
