import { getEventListeners } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ProcessReaper } from '../../../src/exec/process-reaper.ts';
import type { HandlerRun } from '../../../src/pipeline/handlers/handler-result.ts';
import { runPipeHandler } from '../../../src/pipeline/handlers/pipe.ts';
import { handlerWithDefaults } from '../../../src/resources/handler.ts';
import { pidsIn } from '../../exec/pids-in.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DAY_MS = 24 * 3_600_000;
const descriptors = (): number => readdirSync('/proc/self/fd').length;

describe('a pipe handler', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const clock = perTest(() => new ManualClock());
  const reaper = perTest(
    () => new ProcessReaper(new RecordedLog()),
    (made) => made.close(),
  );
  const end = perTest(
    () => new AbortController(),
    (made) => made.abort(),
  );

  beforeEach(() => reaper.ready());

  const file = (name: string): string => `${directory.path}/${name}`;

  function run(command: string, { timeout = 0, runLimitMs = 0, payload = '{}' } = {}): Promise<HandlerRun> {
    const handler = handlerWithDefaults({ type: 'pipe', command, timeout });
    const input = { payload, notificationId: 'n', signal: end.signal };
    return runPipeHandler(handler, input, clock, { runLimitMs, reaper });
  }

  const waiting = (): string => `: > ${file('begun')}; until [ -e ${file('go')} ]; do sleep 0.02; done; echo went`;
  const hasBegun = (): Promise<boolean> => eventually(() => existsSync(file('begun')));

  for (const [what, options, killedAtMs] of [
    ['without a timeout is killed at the limit for all', { runLimitMs: 600_000 }, 600_000],
    ['with a timeout is killed at that, whatever the limit for all', { timeout: 3, runLimitMs: 1_000 }, 3_000],
    ['with a timeout is killed at that where there is no limit for all', { timeout: 3 }, 3_000],
  ] as const) {
    it(what, async () => {
      let result: HandlerRun | undefined;
      const running = run(waiting(), options).then((ended) => (result = ended));
      await hasBegun();
      await clock.advance(killedAtMs - 1);
      expect(result).to.equal(undefined);
      await clock.advance(1);
      const killed = await running;
      expect(killed).to.include({ outcome: 'timed-out', status: 2 });
      expect(killed.reason).to.match(/^Execution timed out\n/);
    });
  }

  for (const [command, status, reason] of [
    ['echo no; exit 3', 3, 'no\n'],
    ['no-such-command-of-mon', 127, ''],
    ['echo dead; kill -9 $$', undefined, 'SIGKILL: dead\n'],
  ] as const) {
    it(`has failed, with its status and its output, after: ${command}`, async () => {
      const result = await run(command);
      expect(result).to.include({ outcome: 'failed', status });
      expect(result.reason).to.include(reason);
    });
  }

  it('has handled the event when it exits with status 0', async () => {
    expect(await run('cat > /dev/null; echo yes')).to.deep.equal({ outcome: 'handled', status: 0, reason: 'yes\n' });
  });

  it('without a timeout runs for days when there is no general limit', async () => {
    const running = run(waiting());
    await hasBegun();
    await clock.advance(20 * DAY_MS);
    writeFileSync(file('go'), '');
    expect(await running).to.deep.include({ outcome: 'handled', status: 0, reason: 'went\n' });
  });

  it('leaves no listener and no descriptor behind, also where a child of it keeps its pipes open', async () => {
    const before = descriptors();
    const command = `sleep 600 <&0 & echo $! > ${file('pid')}`;
    let result: HandlerRun | undefined;
    const running = run(command, { payload: 'x'.repeat(1_000_000) }).then((ended) => (result = ended));
    const [pid = 0] = await eventually(
      () => pidsIn(file('pid')),
      (pids) => pids.length > 0,
    );
    await eventually(
      () => clock.advance(500),
      () => result !== undefined,
    );
    expect(await running).to.include({ outcome: 'handled' });
    process.kill(pid, 0);
    await eventually(descriptors, (count) => count <= before, { what: 'all descriptors closed' });
    process.kill(pid, 'SIGKILL');
    expect(getEventListeners(end.signal, 'abort')).to.have.lengthOf(0);
  });
});
