import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { BareAgentPort } from '../../bench/workers/bare-agent-port.ts';
import { percentile } from '../../bench/support/measured.ts';
import { assertDescriptors } from '../../bench/support/process-stats.ts';
import { nextMessage, startWorker } from '../../bench/support/workers.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { COLLECTABLE, CollectedProcess } from './collected-process.ts';
import { IdleAgents } from './idle-agents.ts';

const AGENTS = 10_000;
const SPARE_DESCRIPTORS = 500;
const BACK_WITHIN_MS = 10_000;
const EVENT_P99_MS = 1_000;
const MEMORY_WITHIN_MS = 60_000;
const MEMORY_SHARE = 0.05;
const INTERVAL_S = 20;
const PUTS_PER_S = 50;
/**
 * Time that the same agents need to reconnect to a bare WebSocket server on two idle cores. If the bare server needs longer in the
 * same run, the time limits grow by the same factor. The memory limit is not scaled.
 */
const BARE_REFERENCE_MS = 1_500;

describe(`F8: ${AGENTS} agents that reconnect at once`, () => {
  let backend: BackendProcess;
  let api: ApiClient;
  /** Factor by which the machine is slower than the reference in this run; at least 1. */
  let slowness = 1;

  before(async () => {
    assertDescriptors(AGENTS + SPARE_DESCRIPTORS);
    slowness = Math.max(1, (await bareReconnectMs()) / BARE_REFERENCE_MS);
    backend = await BackendProcess.start({ environment: COLLECTABLE });
    api = await backend.login();
  });

  after(() => backend.stop());

  async function bareReconnectMs(): Promise<number> {
    const bare = startWorker('bare-agent-port', { decodes: 'nothing' } satisfies BareAgentPort);
    const agents = new IdleAgents(await nextMessage<number>(bare), AGENTS, { intervalS: INTERVAL_S, warningS: 0 });
    try {
      await agents.order('connect');
      return await agents.order('at once');
    } finally {
      agents.disconnect();
      bare.disconnect();
    }
  }

  /** Puts events at a steady rate until `work` ends, and returns the milliseconds that each took, sorted. */
  async function eventTimesWhile(work: Promise<unknown>): Promise<number[]> {
    let isDone = false;
    void work.finally(() => (isDone = true));
    const timesMs: number[] = [];
    const put = async (n: number): Promise<void> => {
      const check = `check-${n % 10}`;
      const startedAt = performance.now();
      const { status } = await api.put(`/ns/default/events/sw-1/${check}`, proxyEvent('sw-1', check));
      expect(status).to.equal(200);
      timesMs.push(performance.now() - startedAt);
    };
    const puts: Promise<void>[] = [];
    for (let n = 0; !isDone; n += 1) {
      puts.push(put(n));
      await delay(1_000 / PUTS_PER_S);
    }
    await Promise.all(puts);
    return timesMs.sort((a, b) => a - b);
  }

  it('are connected within 10 s, delay events by less than 1 s (both scaled to this machine), cause no alert, and change the memory by at most 5 % after 60 s', async () => {
    const observed = new CollectedProcess(backend);
    const connectedWithinMs = BACK_WITHIN_MS * slowness;
    const warningS = INTERVAL_S + Math.ceil(connectedWithinMs / 1_000);
    const agents = new IdleAgents(backend.agentPort, AGENTS, { intervalS: INTERVAL_S, warningS });
    try {
      await agents.order('connect');
      await delay(INTERVAL_S * 1_000);
      const beforeMb = await observed.ownMemoryMb();
      const reconnected = agents.order('at once');
      const eventsMs = await eventTimesWhile(reconnected);
      expect(await reconnected, 'ms until all are connected').to.be.at.most(connectedWithinMs);
      expect(percentile(eventsMs, 0.99), 'ms for an event').to.be.at.most(EVENT_P99_MS * slowness);
      const change = async (): Promise<number> => Math.abs((await observed.ownMemoryMb()) / beforeMb - 1);
      const wait = { what: 'the memory before', withinMs: MEMORY_WITHIN_MS, everyMs: 5_000 };
      await eventually(change, (share) => share <= MEMORY_SHARE, wait);
      const alerts = (await api.ledger({ actor: 'entity' })).filter(({ event }) => event === 'deadline.reached');
      expect(alerts).to.deep.equal([]);
    } finally {
      agents.disconnect();
    }
  });
});
