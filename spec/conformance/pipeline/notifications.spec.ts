import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { MAX_RUNNING_OF_HANDLER } from '../../../src/pipeline/fair-scheduler.ts';
import { isRunning } from '../../exec/is-running.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite, perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { RestartableProcess } from '../../support/restartable-process.ts';

const lines = (path: string): string[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];

/** A stop waits 5 s for handlers that hang; after a kill the process reaper ends them at once. */
async function killAndRemove(program: RestartableProcess): Promise<void> {
  await program.kill();
  await program.stop();
}

describe('the handlers of a backend', function () {
  this.timeout(120_000);
  let program: RestartableProcess;

  const out = (name: string): string => program.path(name);

  async function handler(name: string, command: string, changes: Record<string, unknown> = {}): Promise<void> {
    const body = { metadata: { name, namespace: 'default' }, type: 'pipe', command, ...changes };
    const { status, text } = await program.api.put(`/ns/default/handlers/${name}`, body);
    expect(status, text).to.equal(201);
  }

  async function event(check: string, result: Record<string, unknown>): Promise<void> {
    const path = `/ns/default/events/sw-1/${check}`;
    const { status, text } = await program.api.put(path, proxyEvent('sw-1', check, result));
    expect(status, text).to.equal(200);
  }

  /** The log entries of the runs of a handler. */
  const runsOf = (name: string): unknown[] => program.backend.logs.filter((line) => at(line, 'handler') === name);

  describe('with others', () => {
    const shared = perSuite(() => RestartableProcess.start(), killAndRemove);

    before(() => {
      program = shared;
    });

    it('receive the merged event as JSON on standard input, and the notification id in the environment', async () => {
      await handler('file', `cat > ${out('event')}; printf %s "$MON_NOTIFICATION_ID$GREETING" > ${out('id')}`, {
        env_vars: ['GREETING=hello'],
      });
      await event('merged', { status: 1, output: 'full', handlers: ['file'] });
      const id = await eventually(() => lines(out('id'))[0], Boolean, { what: 'the handler to run', withinMs: 15_000 });
      expect(id).to.match(/^[0-9a-f-]{36}hello$/);
      const given = JSON.parse(readFileSync(out('event'), 'utf8')) as {
        check: Record<string, unknown>;
        pipelines: unknown;
      };
      expect(given.check).to.include({ status: 1, output: 'full', state: 'failing', occurrences: 1 });
      expect(given.pipelines).to.equal(null);
    });

    it('with the filter is_incident run for a problem and its resolution, and not for a lasting success', async () => {
      await handler(
        'incidents',
        `sed 's/.*"output":"\\([^"]*\\)".*/\\1/' >> ${out('outputs')}; echo >> ${out('outputs')}`,
        {
          filters: ['is_incident', 'not_silenced'],
        },
      );
      for (const [status, output] of [
        [0, 'one'],
        [2, 'two'],
        [2, 'three'],
        [0, 'four'],
        [0, 'five'],
      ] as const) {
        await event('incident', { status, output, handlers: ['incidents'] });
      }
      await event('incident', { status: 1, output: 'six', handlers: ['incidents'] });
      await eventually(() => lines(out('outputs')).includes('six'), Boolean, {
        what: 'the last incident',
        withinMs: 15_000,
      });
      expect(lines(out('outputs'))).to.deep.equal(['two', 'three', 'four', 'six']);
    });

    it('run in the order of the events of a key', async () => {
      await handler('order', `sed 's/.*"output":"\\([^"]*\\)".*/\\1/' >> ${out('order')}; echo >> ${out('order')}`);
      for (let n = 0; n < 20; n += 1) await event('ordered', { status: 1, output: String(n), handlers: ['order'] });
      await eventually(() => lines(out('order')).length === 20, Boolean, { what: 'twenty runs', withinMs: 20_000 });
      expect(lines(out('order'))).to.deep.equal(Array.from({ length: 20 }, (_, n) => String(n)));
    });

    /** Each writes the ids of its processes. */
    const hostile: [string, string][] = [
      ['hangs', 'sleep 600'],
      ['ignores SIGTERM', `trap '' TERM; while :; do sleep 1; done`],
      ['forks', 'sleep 600 & echo $! >> "$PIDS"; (sleep 600 & echo $! >> "$PIDS"; wait) & wait'],
      ['prints a hundred megabytes', 'head -c 104857600 /dev/zero; sleep 600'],
    ];
    for (const [what, command] of hostile) {
      it(`do not wait for one that ${what}: it is killed at its timeout with all its processes`, async () => {
        const key = what.replaceAll(' ', '-');
        const [hostileName, next, pidsFile, nextFile] = ['a', 'b', 'pids', 'next'].map((part) => `${part}-${key}`) as [
          string,
          string,
          string,
          string,
        ];
        const env_vars = [`PIDS=${out(pidsFile)}`];
        await handler(hostileName, `echo $$ >> "$PIDS"; ${command}`, { timeout: 1, env_vars });
        await handler(next, `echo next >> ${out(nextFile)}`);
        await event(key, { status: 1, handlers: [hostileName, next] });
        await event(key, { status: 1, handlers: [next] });
        await eventually(() => lines(out(nextFile)).length === 2, Boolean, {
          what: 'the next handlers',
          withinMs: 15_000,
        });
        const pids = lines(out(pidsFile)).map(Number);
        expect(pids).to.have.lengthOf(what === 'forks' ? 3 : 1);
        await eventually(() => !pids.some(isRunning), Boolean, { what: 'the end of the hostile handler' });
        const [run, ...others] = await eventually(
          () => runsOf(hostileName),
          (runs) => runs.length > 0,
        );
        expect(run).to.deep.include({ outcome: 'timed-out', status: 2 });
        expect(at(run, 'reason')).to.match(/^Execution timed out\n/);
        expect(String(at(run, 'reason')).length).to.be.at.most(1_000);
        expect(others).to.deep.equal([]);
      });
    }
  });

  describe('alone', () => {
    const own = perTest(() => RestartableProcess.start(), killAndRemove);

    beforeEach(() => {
      program = own;
    });

    it('that hang without a timeout do not block other handlers', async () => {
      await handler('hangs', `echo $$ >> ${out('pids')}; exec sleep 600`);
      await handler('fine', `echo fine >> ${out('fine')}`);
      for (let n = 0; n < 50; n += 1) await event(`hangs-${n}`, { status: 1, handlers: ['hangs'] });
      await event('other', { status: 1, handlers: ['fine'] });
      await eventually(() => lines(out('fine')).length === 1, Boolean, { what: 'the other handler', withinMs: 15_000 });
      expect(lines(out('pids'))).to.have.lengthOf(25);
    });

    it('that hang end when the backend stops cleanly, and run again at its next start', async () => {
      await handler('hangs', `echo $$ >> ${out('pids')}; sleep 600`);
      await event('disk', { status: 1, handlers: ['hangs'] });
      await eventually(() => lines(out('pids')).length === 1, Boolean, { what: 'the first run', withinMs: 15_000 });
      expect(await program.backend.stop()).to.equal(0);
      expect(isRunning(Number(lines(out('pids'))[0]))).to.equal(false);
      await program.resume();
      await eventually(() => lines(out('pids')).length === 2, Boolean, { what: 'the second run', withinMs: 15_000 });
    });

    it('run for everything that was pending at a kill of the backend: at most once more per kill, with the same id', async () => {
      const [done, count] = [50, 150];
      const kills = 3;
      const name = `read -r event; name=\${event##*'"name":"check-'}; name=\${name%%'"'*}`;
      // A handler that starts during a kill may receive only part of the event.
      const whole = `case $name in ''|*[!0-9]*) exit;; esac`;
      // Those that are still to run at a kill wait for a file.
      const wait = `[ "$name" -lt ${done} ] || until [ -e ${out('go')} ]; do sleep 0.3; done`;
      await handler('note', `${name}; ${whole}; echo "$MON_NOTIFICATION_ID $name" >> ${out('runs')}; ${wait}`);
      const runs = (): string[] => lines(out('runs'));
      const begun = (): Set<string> => new Set(runs());
      const put = (from: number, to: number): Promise<void[]> =>
        Promise.all(
          Array.from({ length: to - from }, (_, n) => event(`check-${from + n}`, { status: 1, handlers: ['note'] })),
        );
      const untilBegun = (wanted: number): Promise<unknown> =>
        eventually(begun, ({ size }) => size >= wanted, {
          what: `${wanted} notifications`,
          withinMs: 45_000,
          everyMs: 50,
        });

      await put(0, done);
      await untilBegun(done);
      await put(done, count);
      await untilBegun(done + MAX_RUNNING_OF_HANDLER);
      for (let kill = 1; kill <= kills; kill += 1) {
        // The last kill finds handlers at work that no longer wait.
        if (kill === kills) writeFileSync(out('go'), '');
        const before = runs().length;
        await program.kill();
        if (kill < kills) expect(begun().size).to.equal(done + MAX_RUNNING_OF_HANDLER);
        await program.resume();
        const again = kill < kills ? before + MAX_RUNNING_OF_HANDLER : count;
        await eventually(runs, (seen) => seen.length >= again, {
          what: 'the runs again',
          withinMs: 45_000,
          everyMs: 50,
        });
      }
      await untilBegun(count);

      const seen = runs().map((line) => line.split(' '));
      const ids = new Set(seen.map(([id]) => id));
      expect(ids.size).to.equal(count);
      expect(new Set(seen.map(([, check]) => check)).size).to.equal(count);
      expect(begun().size).to.equal(count);
      expect(seen.length).to.be.above(count);
      for (const id of ids) expect(seen.filter(([of]) => of === id).length, id).to.be.at.most(1 + kills);
    });
  });

  describe('with a limit for all of them', () => {
    const limited = perSuite(() => RestartableProcess.start(['--handler-run-limit', '1s']), killAndRemove);

    before(() => {
      program = limited;
    });

    it('that hang without a timeout are killed at the limit for all handlers', async () => {
      await handler('hangs', `echo $$ >> ${out('pids')}; sleep 600`);
      await event('disk', { status: 1, handlers: ['hangs'] });
      const [run] = await eventually(
        () => runsOf('hangs'),
        (runs) => runs.length > 0,
        { what: 'the end of the handler', withinMs: 10_000 },
      );
      expect(at(run, 'reason')).to.match(/^Execution timed out\n/);
      expect(lines(out('pids')).map(Number).some(isRunning)).to.equal(false);
    });
  });
});
