'use strict';
const { mkdirSync, renameSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { workerData } = require('node:worker_threads');
const { COMPILED, record } = require('../../dist/load.cjs');

/**
 * Saves the compiled code of a built program when it ends, or of a worker thread when its port receives a message. Loaded
 * before the program by `--require`. The code that an earlier run saved is kept: what is saved has it too.
 */
const compiledCode = record();

function save() {
  for (const { chunk, code } of compiledCode()) {
    const path = join(COMPILED, chunk);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.${process.pid}`, code);
    renameSync(`${path}.${process.pid}`, path);
  }
}

if (workerData?.recordPort === undefined) {
  process.once('exit', save);
} else {
  workerData.recordPort.once('message', () => {
    save();
    process.exit();
  });
  workerData.recordPort.unref();
}
