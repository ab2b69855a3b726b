// Loaded by a program under test: at SIGUSR2 its garbage is collected, and a line says so.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  process.stderr.write('garbage collected\n');
});
