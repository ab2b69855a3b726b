import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AgentProcess } from '../../agent/agent-process.ts';
import { InProcessAgent, type RunningAgent } from '../../agent/in-process-agent.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { HandlerSinks } from '../../support/handler-sinks.ts';
import { at } from '../../support/json-path.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'default/tester';
const INTERVAL_S = 1;
const WARNING_S = 30;
const PROGRAM_WITHIN_MS = 15_000;

/** The test moves the backend's clock, so a slow machine does not change when an interval ends. */
describe('a real agent', function () {
  this.timeout(60_000);
  let agent: RunningAgent | undefined;
  afterEach(() => agent?.kill());

  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => RestartableBackend.start());
  const api = perTest(() => backend.login());
  const handlers = perTest(
    () => new HandlerSinks(api),
    (made) => made.close(),
  );

  beforeEach(async () => {
    await handlers.add('registration');
    await handlers.add('cmdb');
    await handlers.add('pager', ['is_incident']);
    disk(0);
    const metadata = { name: 'disk', namespace: 'default' };
    const schedule = { interval: INTERVAL_S, publish: true, subscriptions: ['web'], handlers: ['pager'] };
    const check = { metadata, command: `exit $(cat ${join(directory.path, 'disk')})`, ...schedule };
    expect(await api.put('/ns/default/checks/disk', check)).to.have.property('status', 201);
  });

  /** Waits for connection number `times` and its stored keepalive. */
  async function start(times: number): Promise<void> {
    const flags = ['--subscriptions', 'web', '--cache-dir', join(directory.path, 'cache'), '--deregister'];
    const timeout = ['--keepalive-warning-timeout', String(WARNING_S)];
    const url = `ws://127.0.0.1:${backend.agentPort}`;
    const all = [...flags, ...timeout, '--deregistration-handler', 'cmdb'];
    // The first one is killed.
    agent = times === 1 ? AgentProcess.start(url, ...all) : InProcessAgent.start(url, ...all);
    await eventually(
      async () => at(await api.event('tester', 'keepalive'), 'check', 'occurrences'),
      (occurrences) => occurrences === times,
      { what: `keepalive ${times}`, withinMs: PROGRAM_WITHIN_MS },
    );
  }

  /** Sets what the check finds from now on. */
  function disk(status: number): void {
    writeFileSync(join(directory.path, 'disk'), String(status));
  }

  /** Lets one interval pass and expects exactly these results. */
  async function interval(statuses: readonly number[]): Promise<void> {
    await backend.clock.advance(INTERVAL_S * 1_000);
    const history = await eventually(
      async () => (at(await api.event('tester', 'disk'), 'check', 'history') ?? []) as { status: number }[],
      (results) => results.length >= statuses.length,
      { what: `result ${statuses.length}` },
    );
    expect(history.map(({ status }) => status)).to.deep.equal(statuses);
  }

  /** All that the handler has received so far. */
  async function handledBy(name: string): Promise<unknown[]> {
    const waiting = (): number => [...backend.store.keys('outbox', { from: '', to: '\uffff' })].length;
    await eventually(() => waiting() === 0, Boolean, { what: 'an empty outbox' });
    await backend.clock.settle();
    return handlers.of(name);
  }

  const ledger = async (actor: string, key?: string) =>
    (await api.ledger({ actor, ...(key === undefined ? {} : { key }) })).map(({ event, to }) => `${event} ${to}`);

  it('registers once, runs its checks, has its incidents handled, and is deleted with all its events when it leaves', async () => {
    await start(1);
    await interval([0]);
    await interval([0, 0]);
    disk(2);
    await interval([0, 0, 2]);
    await interval([0, 0, 2, 2]);
    disk(0);
    await interval([0, 0, 2, 2, 0]);
    await interval([0, 0, 2, 2, 0, 0]);
    expect((await handledBy('pager')).map((event) => at(event, 'check', 'status'))).to.deep.equal([2, 2, 0]);

    await agent?.kill();
    await start(2);
    expect((await handledBy('registration')).map((event) => at(event, 'check', 'status'))).to.deep.equal([1]);
    disk(1);
    await interval([0, 0, 2, 2, 0, 0, 1]);
    expect(await agent?.stop()).to.equal(0);
    expect(await handledBy('cmdb')).to.deep.equal([]);
    await backend.clock.advance(WARNING_S * 1_000);

    expect(await api.entity('tester')).to.equal(undefined);
    expect((await api.get('/ns/default/events')).json).to.deep.equal([]);
    const [failed, resolved, ...others] = (await handledBy('pager')).slice(3);
    expect(at(failed, 'check', 'status')).to.equal(1);
    expect(at(resolved, 'check')).to.deep.include({ status: 0, output: 'Resolving due to entity deregistering' });
    const history = at(resolved, 'check', 'history') as { status: number }[];
    expect(history.map(({ status }) => status)).to.deep.equal([1, 0]);
    expect(others).to.deep.equal([]);
    const farewells = await handledBy('cmdb');
    expect(farewells.map((event) => at(event, 'check', 'metadata', 'name'))).to.deep.equal(['deregistration']);
    expect(await handledBy('registration')).to.have.lengthOf(1);

    expect(await ledger('entities', KEY)).to.deep.equal(['resource.created stored', 'resource.deleted null']);
    expect(await ledger('entity', KEY)).to.deep.equal([
      'keepalive.received registered',
      'deadline.reached deregistered',
    ]);
    expect(await ledger('connection')).to.deep.equal([
      'socket.opened registered',
      'socket.closed deregistered',
      'socket.opened registered',
      'socket.closed deregistered',
    ]);
    expect(await ledger('check-state', `${KEY}/disk`)).to.deep.equal([
      'result.received passing',
      'result.received failing',
      'result.received passing',
      'result.received failing',
      'entity.deregistered null',
    ]);
    expect(await ledger('check-state', `${KEY}/keepalive`)).to.deep.equal([
      'result.received passing',
      'entity.deregistered null',
    ]);
  });
});
