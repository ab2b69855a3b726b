import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';
import { RestartableProcess } from '../support/restartable-process.ts';

const KILLS = 10;
const CHECKS = 50;
/** Longest time from the first acknowledged event of a round to the kill. */
const LONGEST_ROUND_MS = 300;
/** Above every key. */
const END = '~';
/** Appends notification, event number and backend process to a file. A handler that is killed before it gets its event writes nothing. */
const HANDLER = `read -r event; number=\${event##*'"output":"'}; [ -z "$event" ] || echo "$MON_NOTIFICATION_ID \${number%%'"'*} $PPID" >> "$RUNS"`;

/** One run of the handler. */
interface HandlerRun {
  notification: string;
  /** Number of the event, from its output. */
  number: string;
  /** Process id of the backend that ran it. */
  process: string;
}

describe('F3: a backend that is killed between storing a transition and running its handler', function () {
  this.timeout(180_000);
  const random = SeededRandom.fresh();
  const program = perTest(() => RestartableProcess.start());
  /** Numbers of the acknowledged events. */
  let stored: string[];
  let sent: number;

  beforeEach(async () => {
    stored = [];
    sent = 0;
    const metadata = { name: 'note', namespace: 'default' };
    const body = { metadata, type: 'pipe', command: HANDLER, env_vars: [`RUNS=${program.path('runs')}`] };
    expect(await program.api.put('/ns/default/handlers/note', body)).to.have.property('status', 201);
  });

  function runs(): HandlerRun[] {
    const path = program.path('runs');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    return lines
      .map((line) => line.split(' '))
      .map(([notification = '', number = '', process = '']) => ({ notification, number, process }));
  }

  /** Puts an event. Returns false if the backend is gone. */
  async function put(check: string, status: number): Promise<boolean> {
    sent += 1;
    const number = String(sent);
    const event = proxyEvent('sw-1', check, { status, output: number, handlers: ['note'] });
    const answer = await program.api.put(`/ns/default/events/sw-1/${check}`, event).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return undefined;
    });
    if (answer?.status === 200) stored.push(number);
    return answer !== undefined;
  }

  /** Returns the ids of the notifications in the outbox of a killed backend. */
  async function pendingNotifications(): Promise<Set<string>> {
    const store = new LmdbStore({ directory: join(program.stateDir, 'store'), sync: 'full', readOnly: true });
    try {
      return new Set([...store.range('outbox', { from: '', to: END })].map(({ value }) => value.notificationId));
    } finally {
      await store.close();
    }
  }

  /** Kills the backend during each report. Returns the pending notifications of each kill. */
  async function killWhile(report: (round: number) => Promise<unknown>): Promise<Set<string>[]> {
    const kills: Set<string>[] = [];
    while (kills.length < KILLS) {
      const before = stored.length;
      const reported = report(kills.length);
      await eventually(() => stored.length > before, Boolean, { what: 'an event', withinMs: 20_000, everyMs: 2 });
      await delay(random.next() * LONGEST_ROUND_MS);
      await program.kill();
      await reported;
      kills.push(await pendingNotifications());
      await program.resume();
    }
    return kills;
  }

  /** Waits until every recorded transition has had a handler run, and returns all runs. */
  async function allRuns(): Promise<HandlerRun[]> {
    const entries = await program.api.ledger({ actor: 'check-state' });
    const transitions = entries.filter(({ key }) => key.startsWith('default/sw-1/')).length;
    expect(transitions).to.be.at.least(stored.length);
    const every = { what: `${transitions} notifications`, withinMs: 60_000, everyMs: 50 };
    const done = await eventually(runs, (found) => idsOf(found).size >= transitions, every);
    expect(idsOf(done).size).to.equal(transitions);
    return done;
  }

  const idsOf = (found: readonly HandlerRun[]): Set<string> => new Set(found.map(({ notification }) => notification));

  /** Expects one notification id for every event, and a second run of it only after a kill that interrupted it. */
  function assertHandled(done: readonly HandlerRun[], kills: readonly Set<string>[]): void {
    expect(done.map(({ number }) => number)).to.include.members(stored);
    const ids = idsOf(done);
    expect(new Set(done.map(({ notification, number }) => `${notification} ${number}`)).size).to.equal(ids.size);
    expect(new Set(done.map(({ number }) => number)).size).to.equal(ids.size);
    expect(new Set(done.map(({ notification, process }) => `${notification} ${process}`)).size).to.equal(done.length);
    for (const id of ids) {
      const interrupted = kills.filter((kill) => kill.has(id)).length;
      const times = done.filter(({ notification }) => notification === id).length;
      expect(times, `runs of ${id}, interrupted by ${interrupted} kills`).to.be.at.most(1 + interrupted);
    }
  }

  it(`handles every transition of one check, and repeats at most one for each of ${KILLS} kills (seed ${random.seed})`, async () => {
    const kills = await killWhile(async () => {
      const before = at(await program.api.event('sw-1', 'disk'), 'check', 'status');
      for (let status = before === 1 ? 0 : 1; await put('disk', status); status = 1 - status);
    });
    const done = await allRuns();
    assertHandled(done, kills);
    expect(done.length - idsOf(done).size, 'repeats').to.be.at.most(KILLS);
  });

  it(`handles every transition of ${CHECKS} checks that change at once, and repeats each at most once for each kill that interrupts it (seed ${random.seed})`, async () => {
    const kills = await killWhile((round) =>
      Promise.all(Array.from({ length: CHECKS }, (_, index) => put(`check-${round}-${index}`, 1))),
    );
    assertHandled(await allRuns(), kills);
  });
});
