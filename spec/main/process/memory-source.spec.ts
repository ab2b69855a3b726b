import { execFileSync } from 'node:child_process';
import { totalmem } from 'node:os';
import { expect } from 'chai';
import type { MemorySource } from '../../../src/actors/supervision/memory-guard.ts';
import { memorySource } from '../../../src/main/process/memory-source.ts';

/** Prints the memory of a process that has opened as many files as it may. */
const WITHOUT_DESCRIPTORS = `
  import { openSync } from 'node:fs';
  import { memorySource } from ${JSON.stringify(new URL('../../../src/main/process/memory-source.ts', import.meta.url).href)};
  const source = memorySource(0);
  try {
    for (;;) openSync('/dev/null');
  } catch (error) {
    if (error.code !== 'EMFILE') throw error;
  }
  console.log(source.read().process.usedBytes);
`;

/** Returns the bytes in use while there are objects that nothing refers to afterwards. */
function usedWithGarbage(source: MemorySource): number {
  const objects = Array.from({ length: 500_000 }, (_, n) => ({ n }));
  const { usedBytes } = source.read().heap;
  return objects.length > 0 ? usedBytes : 0;
}

describe('the memory of the process', () => {
  it('is read with its limits', () => {
    const { heap, process: own } = memorySource(0).read();
    expect(own.usedBytes).to.be.within(heap.usedBytes / 2, process.memoryUsage.rss() + 2 ** 24);
    expect(own.limitBytes).to.be.within(2 ** 24, totalmem());
    expect(heap.usedBytes).to.be.below(heap.limitBytes);
    expect(memorySource(5_000_000).read().process.limitBytes).to.equal(5_000_000);
  });

  it('is read when no descriptor is free', () => {
    const args = ['--import', 'tsx', '--input-type=module', '--eval', WITHOUT_DESCRIPTORS];
    const limited = ['-c', 'ulimit -n 256; exec "$@"', 'sh', process.execPath, ...args];
    expect(Number(execFileSync('sh', limited, { encoding: 'utf8' }))).to.be.above(2 ** 24);
  });

  it('is less after a collection, without what nothing refers to', () => {
    const source = memorySource(0);
    source.collect();
    const before = source.read().heap.usedBytes;
    expect(usedWithGarbage(source)).to.be.above(before + 10_000_000);
    source.collect();
    expect(source.read().heap.usedBytes).to.be.below(before + 5_000_000);
    expect((globalThis as { gc?: unknown }).gc).to.equal(undefined);
  });
});
