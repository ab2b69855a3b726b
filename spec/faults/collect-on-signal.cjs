// A program under test preloads this file: at SIGUSR2 it collects garbage and writes a line to stderr.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  process.stderr.write('garbage collected\n');
});
