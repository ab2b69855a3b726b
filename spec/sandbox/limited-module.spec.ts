import { expect } from 'chai';
import type { QuickJSWASMModule } from 'quickjs-emscripten';
import { Engine } from '../../src/sandbox/engine.ts';
import { loadQuickJs, MAX_MODULE_BYTES } from '../../src/sandbox/limited-module.ts';
import type { EvaluationResult } from '../../src/sandbox/messages.ts';

const MIB = 1024 * 1024;
/** The engine counts the contents of such blocks towards no limit of a program. */
const LARGE_BLOCKS = 'var all = []; for (var n = 0; n < 9; n += 1) all.push(new ArrayBuffer(4e6)); all.length < 0';
const BOMBS = [
  'var all = []; for (;;) all.push(new ArrayBuffer(4e6))',
  'var all = []; for (;;) all.push(new ArrayBuffer(4e4))',
  'var all = []; for (;;) all.push("x".repeat(1e6) + all.length)',
];

describe('the module that runs the JavaScript of users', () => {
  let quickJs: QuickJSWASMModule;
  let engine: Engine;

  beforeEach(async () => {
    quickJs = await loadQuickJs();
    engine = new Engine(quickJs, () => performance.now());
  });

  const evaluate = (program: string): EvaluationResult =>
    engine.evaluate({ programs: [program], variable: 'value', nowMs: 0, limitMs: 10_000 }, 'null');
  const bytes = (): number => quickJs.getWasmMemory().buffer.byteLength;

  it('does not keep the memory that programs leave behind', () => {
    for (let run = 0; run < 20; run += 1) {
      expect(evaluate(LARGE_BLOCKS)).to.deep.equal({ type: 'fails' });
      expect(bytes()).to.be.at.most(64 * MIB);
    }
  });

  it('stops programs at 128 MiB, and runs the next ones', () => {
    for (let run = 0; run < 2; run += 1) {
      for (const bomb of BOMBS) {
        expect(evaluate(bomb), bomb).to.deep.equal({ type: 'limit', error: 'took too much memory' });
      }
      expect(evaluate('[1, 2].indexOf(2) === 1')).to.deep.equal({ type: 'holds' });
    }
    expect(bytes()).to.be.at.most(MAX_MODULE_BYTES);
  });
});
