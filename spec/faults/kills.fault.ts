import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { SeededRandom } from '../actors/seeded-random.ts';
import { crashRounds } from '../crash/crash-rounds.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess, initialiseState } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

/** `FAULT_ROUNDS=200` for the whole count. */
const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 60);
const ROUND_LIMIT_MS = 10_000;
/** Connections that put events, as many as the benchmark of one backend has. */
const HTTP_SENDERS = 64;

describe('a backend that is killed while events come in', function () {
  const random = SeededRandom.fresh();

  it(`F1: ${ROUNDS} times at a random instant, by ${HTTP_SENDERS} connections and by agents, has lost nothing that it promised (seed ${random.seed})`, async function () {
    this.timeout(ROUNDS * ROUND_LIMIT_MS);
    const { faults, acknowledged } = await crashRounds(ROUNDS, () => random.next(), HTTP_SENDERS);
    expect(faults).to.deep.equal([]);
    expect(acknowledged).to.be.above(ROUNDS * HTTP_SENDERS);
  });
});

const KILLS = 8;
const CHECKS = 50;
const LONGEST_ROUND_MS = 600;
/** What was killed before it was given its event says nothing. */
const HANDLER = `read -r event; number=\${event##*'"output":"'}; [ -z "$event" ] || echo "$MON_NOTIFICATION_ID \${number%%'"'*}" >> "$RUNS"`;

describe('F3: a backend that is killed between storing a transition and running its handler', function () {
  this.timeout(120_000);
  const random = SeededRandom.fresh();
  let directory: TemporaryDirectory;
  let backend: BackendProcess;
  let api: ApiClient;
  let sent = 0;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    await initialiseState(join(directory.path, 'state'));
    await start();
    const metadata = { name: 'note', namespace: 'default' };
    const body = { metadata, type: 'pipe', command: HANDLER, env_vars: [`RUNS=${join(directory.path, 'runs')}`] };
    expect(await api.put('/ns/default/handlers/note', body)).to.have.property('status', 201);
  });

  afterEach(async () => {
    await backend.stop();
    await directory.remove();
  });

  async function start(): Promise<void> {
    backend = await BackendProcess.start({ stateDir: join(directory.path, 'state') });
    api = await backend.login();
  }

  /** `<notification> <number of the event>` of each run. */
  function runs(): { id: string; number: string }[] {
    const path = join(directory.path, 'runs');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    return lines.map((line) => line.split(' ')).map(([id = '', number = '']) => ({ id, number }));
  }

  /** The first result of a check is a transition. The numbers of those that were stored for sure. */
  async function report(): Promise<string[]> {
    const stored: string[] = [];
    const put = async (number: string): Promise<void> => {
      const event = proxyEvent('sw-1', `check-${number}`, { status: 1, output: number, handlers: ['note'] });
      const answer = await api.put(`/ns/default/events/sw-1/check-${number}`, event).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        return undefined;
      });
      if (answer?.status === 200) stored.push(number);
    };
    await Promise.all(Array.from({ length: CHECKS }, () => put(String((sent += 1)))));
    return stored;
  }

  it(`runs the handler of each transition, with one id, at most once more for each of ${KILLS} kills (seed ${random.seed})`, async () => {
    const stored: string[] = [];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const reported = report();
      await delay(random.next() * LONGEST_ROUND_MS);
      await backend.kill();
      stored.push(...(await reported));
      await backend.remove();
      await start();
    }
    const transitions = (await api.ledger({ actor: 'check-state' })).filter(({ key }) =>
      key.startsWith('default/sw-1/'),
    );
    expect(stored.length).to.be.above(0);
    expect(transitions.length).to.be.at.least(stored.length);
    const done = await eventually(runs, (found) => new Set(found.map(({ id }) => id)).size >= transitions.length, {
      what: `${transitions.length} notifications`,
      withinMs: 60_000,
      everyMs: 50,
    });
    expect(done.map(({ number }) => number)).to.include.members(stored);
    const ids = new Set(done.map(({ id }) => id));
    expect(ids.size).to.equal(transitions.length);
    expect(new Set(done.map(({ id, number }) => `${id} ${number}`)).size).to.equal(ids.size);
    expect(new Set(done.map(({ number }) => number)).size).to.equal(ids.size);
    for (const id of ids) expect(done.filter((run) => run.id === id).length, id).to.be.at.most(1 + KILLS);
    expect(done.length - ids.size).to.be.at.most(KILLS * CHECKS);
  });
});
