import { join } from 'node:path';
import { expect } from 'chai';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { AgentProcess } from '../../agent/agent-process.ts';
import { FakeBackend } from '../../agent/fake-backend.ts';
import { InProcessAgent, type RunningAgent } from '../../agent/in-process-agent.ts';
import { queueEvents } from '../../agent/queue/queued-agent.ts';
import { eventually } from '../../support/eventually.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const COUNT = 1_000;
const NAMES = Array.from({ length: COUNT }, (_, index) => `check-${index}`);
const PREFIX = 'default/tester/';
const ARRIVED_WITHIN_MS = 20_000;

describe('the events in the queue of an agent that is killed', function () {
  this.timeout(60_000);
  let agent: RunningAgent | undefined;
  afterEach(() => agent?.kill());

  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  const flags = (): string[] => ['--cache-dir', join(directory.path, 'cache')];
  const url = (): string => `ws://127.0.0.1:${backend.agentPort}`;

  /** Returns the ids of the events in order, and kills the agent that accepted them. */
  async function queued(): Promise<unknown[]> {
    const played = await FakeBackend.start({ acksEvents: false });
    try {
      agent = AgentProcess.start(played.url, ...flags());
      return await queueEvents(played, agent, COUNT);
    } finally {
      await agent?.kill();
      await played.stop();
    }
  }

  /** The check results that the backend recorded, in order: the first result of each check is a transition. */
  async function applied(count: number): Promise<LedgerEntry[]> {
    return eventually(
      async () => (await api.ledger({ actor: 'check-state' })).filter(({ key }) => key.startsWith(`${PREFIX}check-`)),
      (entries) => entries.length >= count,
      { what: `${count} events at the backend`, withinMs: ARRIVED_WITHIN_MS, everyMs: 20 },
    );
  }

  /** The previous agent may have delivered everything; this one may still be starting, so that a signal simply ends it. */
  async function isRunning(): Promise<void> {
    await eventually(
      () => agent?.log.map(({ msg }) => msg) ?? [],
      (messages) => messages.includes('successfully connected'),
      { what: 'the connection of the agent', withinMs: ARRIVED_WITHIN_MS },
    );
  }

  async function haveArrivedOnceInOrder(ids: readonly unknown[]): Promise<void> {
    const entries = await applied(COUNT);
    expect(entries.map(({ key }) => key.slice(PREFIX.length))).to.deep.equal(NAMES);
    expect(entries.map(({ cause }) => at(cause, 'eventId'))).to.deep.equal(ids);
    await isRunning();
    expect(await agent?.stop()).to.equal(0);
    expect(agent?.log.map(({ msg }) => msg)).to.not.include('stopping with undelivered events');
    const { json } = await api.get('/ns/default/events/tester');
    const results = (json as unknown[]).filter((event) => at(event, 'check', 'metadata', 'name') !== 'keepalive');
    expect(results.map((event) => at(event, 'check', 'metadata', 'name'))).to.have.members(NAMES);
    for (const event of results) expect(at(event, 'check', 'occurrences')).to.equal(1);
  }

  it(`are all ${COUNT} delivered after its restart, in order and without duplicates`, async () => {
    const ids = await queued();
    agent = InProcessAgent.start(url(), ...flags());
    await haveArrivedOnceInOrder(ids);
  });

  it('are applied once and in order when the agent is killed again during delivery', async () => {
    const ids = await queued();
    agent = AgentProcess.start(url(), ...flags());
    await applied(1);
    await agent.kill();
    agent = InProcessAgent.start(url(), ...flags());
    await haveArrivedOnceInOrder(ids);
  });
});
