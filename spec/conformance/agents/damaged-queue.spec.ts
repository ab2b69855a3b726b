import {
  existsSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import { DiskQueue } from '../../../src/store/disk-queue.ts';
import { AgentProcess } from '../../agent/agent-process.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const EVENTS = 1_000;
const PAGE_BYTES = 4_096;
const STARTED_WITHIN_MS = 20_000;
const MOVED = 'event queue is damaged and was moved aside, its events are not sent';

describe('the queue on the disk of an agent', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const queue = (): string => join(directory.path, 'queue');
  const dataFile = (): string => join(queue(), 'data.mdb');
  let agent: AgentProcess | undefined;

  afterEach(() => agent?.kill());

  beforeEach(async () => {
    const stored = await DiskQueue.open(queue(), systemClock, 0);
    const puts = Array.from({ length: EVENTS }, (_, n) => ({
      n: n + 1,
      check: 'c',
      payload: `{"n":${n},"x":"${'x'.repeat(300)}"}`,
    }));
    await stored.write({ puts, removed: [], reserves: false });
    await stored.close();
  });

  function write(at: number, bytes: Buffer): void {
    const file = openSync(dataFile(), 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    closeSync(file);
  }

  /** Starts the agent and waits until it has opened its queue. It finds no backend. */
  async function start(): Promise<Record<string, unknown>[]> {
    agent = new AgentProcess([
      'start',
      '--backend-url',
      'ws://127.0.0.1:9',
      '--cache-dir',
      directory.path,
      '--log-level',
      'info',
    ]);
    const started = agent;
    await eventually(() => started.stderr.includes('reconnection attempt failed') || !started.isAlive, Boolean, {
      withinMs: STARTED_WITHIN_MS,
    });
    expect(started.isAlive, started.stderr).to.equal(true);
    return started.log;
  }

  const DAMAGES: readonly [string, () => void][] = [
    ['its header is overwritten', () => write(0, Buffer.alloc(200, 'x'))],
    [
      'its file is truncated',
      () => truncateSync(dataFile(), Math.floor(statSync(dataFile()).size / PAGE_BYTES / 3) * PAGE_BYTES),
    ],
    ['pages are zero', () => write(2 * PAGE_BYTES, Buffer.alloc(statSync(dataFile()).size - 2 * PAGE_BYTES))],
    [
      'pages are overwritten',
      () => write(2 * PAGE_BYTES, Buffer.alloc(statSync(dataFile()).size - 2 * PAGE_BYTES, 'x')),
    ],
    ['its file is another one', () => writeFileSync(dataFile(), 'something else')],
  ];
  for (const [what, damage] of DAMAGES) {
    it(`is moved aside when ${what}, which the log says, and the agent starts with a new one`, async () => {
      damage();
      const damaged = readFileSync(dataFile());
      const log = await start();
      const line = log.find(({ msg }) => msg === MOVED);
      expect(line).to.include({ level: 'error', path: `${queue()}.damaged` });
      expect(line?.['reason']).to.be.a('string').with.length.above(3);
      expect(readFileSync(`${queue()}.damaged/data.mdb`).subarray(0, damaged.length).equals(damaged)).to.equal(true);
      expect(existsSync(dataFile())).to.equal(true);
    });
  }

  it('replaces the damaged one that was moved aside before', async () => {
    for (let i = 0; i < 2; i++) {
      write(0, Buffer.alloc(200, 'x'));
      await start();
      await agent?.stop();
    }
    expect(readdirSync(directory.path).sort()).to.deep.equal(['queue', 'queue.damaged']);
  });

  it('stays when it is intact, with its events', async () => {
    const log = await start();
    expect(log.find(({ msg }) => msg === MOVED)).to.equal(undefined);
    expect(log.find(({ msg }) => msg === 'loaded queued events of an earlier run')).to.include({ events: EVENTS });
    expect(existsSync(`${queue()}.damaged`)).to.equal(false);
  });
});
