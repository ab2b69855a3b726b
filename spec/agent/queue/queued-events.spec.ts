import { expect } from 'chai';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { AgentProcess } from '../agent-process.ts';
import { FakeBackend, type FakeFrame } from '../fake-backend.ts';
import { InProcessAgent, type RunningAgent } from '../in-process-agent.ts';
import { acceptedIds, provokeEvents, queueEvents } from './queued-agent.ts';

const COUNT = 1_000;
const NO_ENTITY_WITHIN_MS = 20_000;

const idsOf = (frames: readonly FakeFrame[]): unknown[] => frames.map(({ body }) => body.id);
const numberOf = ({ type }: FakeFrame): number => Number(/^event (\d+)$/.exec(type)?.[1]);

describe('the queued events of an agent', function () {
  this.timeout(90_000);
  let agent: RunningAgent;
  afterEach(() => agent.kill());

  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => FakeBackend.start({ acksEvents: false }));

  const flagsOf = (): string[] => ['--cache-dir', join(directory.path, 'cache'), '--retry-min', '100ms'];
  const start = (...flags: string[]): void => {
    agent = InProcessAgent.start(backend.url, ...flagsOf(), ...flags);
  };
  /** A process, which `kill` ends at once. */
  const startProcess = (): void => {
    agent = AgentProcess.start(backend.url, ...flagsOf());
  };

  const later = (sessions: number): FakeFrame[] =>
    backend.sessions.slice(sessions).flatMap(({ frames }) => frames.filter(({ type }) => type.startsWith('event')));

  const arrived = (sessions: number, count: number): Promise<FakeFrame[]> =>
    eventually(
      () => later(sessions),
      (found) => found.length >= count,
      { what: `${count} events`, withinMs: NO_ENTITY_WITHIN_MS },
    );

  it('survive kill -9: 1,000 arrive after a restart, none twice, in order, in the same queue', async () => {
    startProcess();
    const ids = await queueEvents(backend, agent, COUNT);
    const { headers } = backend.sessions[0] ?? {};
    await agent.kill();
    Object.assign(backend.options, { refuseWith: undefined, acksEvents: true });
    start();
    const events = await arrived(1, COUNT);
    expect(idsOf(events)).to.deep.equal(ids);
    expect(events.map(numberOf)).to.deep.equal(Array.from({ length: COUNT }, (_, index) => index + 1));
    expect(backend.current?.headers['mon-queue']).to.equal(headers?.['mon-queue']);

    backend.requestCheck({ metadata: { name: 'new' }, command: 'true' }, 1);
    const [fresh] = await backend.eventsOf('new');
    expect(numberOf(fresh ?? events[0] ?? expect.fail())).to.be.greaterThan(COUNT);
    expect(await agent.stop()).to.equal(0);
    const before = backend.sessions.length;
    start();
    await eventually(() => backend.sessions.length > before, Boolean, { withinMs: NO_ENTITY_WITHIN_MS });
    await backend.ready();
    backend.requestCheck({ metadata: { name: 'last' }, command: 'true' }, 1);
    await backend.eventsOf('last');
    expect(later(before)).to.have.lengthOf(1);
  });

  it('are applied once by a backend that checks numbers, when the agent is killed during delivery', async () => {
    startProcess();
    const ids = await queueEvents(backend, agent, COUNT);
    await agent.kill();
    Object.assign(backend.options, { refuseWith: undefined, acksEvents: true, acksUpTo: 300 });
    startProcess();
    await arrived(1, COUNT);
    await agent.kill();
    const before = backend.sessions.length;
    backend.options.acksUpTo = Infinity;
    start();
    const again = await eventually(
      () => later(before),
      (found) => found.some((frame) => numberOf(frame) === COUNT),
      { withinMs: NO_ENTITY_WITHIN_MS },
    );
    const first = later(1).slice(0, COUNT);
    const applied = [...first.filter((frame) => numberOf(frame) <= 300), ...again.filter((f) => numberOf(f) > 300)];
    expect(idsOf(applied)).to.deep.equal(ids);
  });

  it('arrive at least once and in order at a backend that does not acknowledge, when the agent is killed during delivery', async () => {
    startProcess();
    const ids = await queueEvents(backend, agent, COUNT);
    await agent.kill();
    Object.assign(backend.options, { refuseWith: undefined, acknowledges: false });
    startProcess();
    await arrived(1, 1);
    await agent.kill();
    const before = backend.sessions.length;
    start();
    await eventually(() => backend.sessions.length > before, Boolean, { withinMs: NO_ENTITY_WITHIN_MS });
    const all = await eventually(
      () => new Set(idsOf(later(1))),
      (found) => found.size === COUNT,
      { what: 'all events', withinMs: NO_ENTITY_WITHIN_MS },
    );
    expect([...all]).to.deep.equal(ids);
    expect(later(1).every(({ type }) => type === 'event')).to.equal(true);
  });

  it('keep their numbers when the agent is stopped and started', async () => {
    start();
    await backend.ready();
    provokeEvents(backend, 3);
    const before = await arrived(0, 3);
    expect(await agent.stop()).to.equal(0);
    expect(agent.log.find(({ msg }) => msg === 'stopping with undelivered events')?.['events']).to.equal(3);
    start();
    const after = await arrived(1, 3);
    expect(after.map(numberOf)).to.deep.equal([1, 2, 3]);
    expect(idsOf(after)).to.deep.equal(idsOf(before));
  });

  it('are limited by the flag, and the log counts the oldest ones that are dropped', async () => {
    start('--events-queue-max', '10');
    await backend.ready();
    provokeEvents(backend, 25);
    backend.options.refuseWith = 503;
    backend.current?.socket.close(1001);
    await eventually(
      () => acceptedIds(agent),
      (ids) => ids.length === 25,
    );
    Object.assign(backend.options, { refuseWith: undefined, acksEvents: true });
    const events = await arrived(1, 10);
    expect(events.map(({ body }) => body.check.metadata.name as unknown)).to.deep.equal(
      Array.from({ length: 10 }, (_, index) => `check-${index + 15}`),
    );
    const warning = agent.log.find(({ msg }) => msg === 'event queue is full, dropping the oldest event');
    expect(warning).to.include({ level: 'warning', dropped: 1, check: 'check-0' });
  });

  it('stay in memory without a cache directory, with a new queue id at each start', async () => {
    agent = InProcessAgent.start(backend.url, '--cache-dir', '/dev/null');
    const first = await backend.ready();
    provokeEvents(backend, 1);
    await arrived(0, 1);
    await agent.kill();
    agent = InProcessAgent.start(backend.url, '--cache-dir', '/dev/null');
    await eventually(() => backend.sessions.length === 2, Boolean, { withinMs: NO_ENTITY_WITHIN_MS });
    const second = await backend.ready();
    expect(second.headers['mon-queue']).to.not.equal(first.headers['mon-queue']);
    backend.requestCheck({ metadata: { name: 'new' }, command: 'true' }, 1);
    await backend.eventsOf('new');
    expect(later(1)).to.have.lengthOf(1);
  });
});
