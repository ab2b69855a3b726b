import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import { DiskQueue } from '../../../src/store/disk-queue.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { AgentProcess, testerFlags } from '../agent-process.ts';
import { InProcessAgent, type RunningAgent } from '../in-process-agent.ts';

const NOWHERE = 'ws://127.0.0.1:9';
const WAITS = 'the directory of --cache-dir is in use, waiting up to 60 s for it';

describe('an agent whose --cache-dir another agent uses', function () {
  this.timeout(30_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const queue = (): string => join(directory.path, 'queue');
  perTest(
    () => DiskQueue.open(queue(), systemClock, 0),
    (used) => used.close(),
  );
  const args = (): string[] => testerFlags(NOWHERE, ['--cache-dir', directory.path]);
  const waits = (agent: RunningAgent) =>
    eventually(
      () => agent.log.filter(({ msg }) => msg === WAITS),
      (lines) => lines.length > 0,
      {
        what: 'the warning',
        withinMs: 15_000,
      },
    );

  it('warns at once, and ends after the time that it named, with the flag and without a stack', async () => {
    const clock = new ManualClock();
    const agent = new InProcessAgent(args(), {}, clock);
    const [warning] = await waits(agent);
    expect(warning).to.include({
      level: 'warning',
      flag: 'cache-dir',
      error: `store is in use by process ${process.pid}`,
    });
    await clock.advance(50_000);
    expect(agent.isAlive).to.equal(true);
    await clock.advance(20_000);
    expect(await agent.ended()).to.equal(1);
    expect(agent.log.filter(({ msg }) => msg === WAITS)).to.have.length(1);
    const end = agent.log.at(-1);
    expect(end).to.include({ level: 'fatal', flag: 'cache-dir' }).and.not.have.property('stack');
    expect(end?.['error'])
      .to.include(`could not open queue (${queue()}): timeout (is mon-agent already running?)`)
      .and.include(`process ${process.pid}; --cache-dir must name another directory`);
  });

  it('logs a stop signal, and ends at once with 0', async () => {
    const agent = new AgentProcess(args());
    try {
      await waits(agent);
      agent.signal('SIGTERM');
      expect(await agent.ended()).to.equal(0);
      expect(agent.log.at(-1)?.['msg']).to.equal('signal "terminated" received, shutting down agent');
    } finally {
      await agent.kill();
    }
  });
});
