import type { ChildProcess } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { percentile } from '../../bench/support/measured.ts';
import { nextMessage, startWorker } from '../../bench/support/workers.ts';
import type { AgentClient } from '../support/agent-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { checkEvent } from '../support/example-events.ts';
import { at } from '../support/json-path.ts';
import { scrape } from '../support/scrape.ts';
import type { AttackOrder, AttackReport } from './attack-worker.ts';
import { ATTACKS, REJECTED_MESSAGES } from './attacks.ts';
import { COLLECTABLE, CollectedProcess } from './collected-process.ts';
import { ObservedProcess } from './observed-process.ts';

const MB_PER_ATTACKER = 10;
/** A small young generation; a large one holds as much garbage as the memory limit of several attackers. */
const HEAP_OPTIONS = { NODE_OPTIONS: `${COLLECTABLE.NODE_OPTIONS} --max-semi-space-size=4` };
/** Memory that may remain after all attacks together, mostly growth of the heap itself. */
const LEFT_BEHIND_MB = 64;
/** Part of it that may still be in use after a garbage collection. */
const KEPT_MB = 10;
const MB = 1_048_576;
const MAX_NEIGHBOUR_DELAY_MS = 250;
/** The backend sees the end of an attacker when it has read what the attacker's socket still holds, at the pace of the others. */
const ENDED_WITHIN_MS = 60_000;

describe('A13: an attacker on the agent port', function () {
  let backend: BackendProcess;
  let attackers: ChildProcess;
  let api: ApiClient;
  let neighbour: AgentClient;
  let observed: ObservedProcess;
  let collected: CollectedProcess;
  const baseline = { ownMb: 0, heapMb: 0 };
  let sent = 0;

  before(async () => {
    backend = await BackendProcess.start({ environment: HEAP_OPTIONS });
    attackers = startWorker(new URL('./attack-worker.ts', import.meta.url), {});
    api = await backend.login();
    observed = new ObservedProcess(backend.pid);
    collected = new CollectedProcess(backend);
    neighbour = await backend.connect({ name: 'neighbour' });
    // Warm up the heap before the first measurement.
    await send({ attack: REJECTED_MESSAGES, attackers: 1 });
    await endAttacks();
    await whileNeighbourWorks(delay(2_000));
    baseline.ownMb = observed.ownMemoryMb;
    await collected.ownMemoryMb();
    baseline.heapMb = await heapMb();
  });

  after(async () => {
    attackers.kill();
    await backend.stop();
  });

  afterEach(() => endAttacks());

  const heapMb = async (): Promise<number> => (await scrape(backend)).value('nodejs_heap_size_used_bytes') / MB;

  async function send(order: Omit<AttackOrder, 'agentPort'> | 'stop'): Promise<void> {
    attackers.send(order === 'stop' ? order : { ...order, agentPort: backend.agentPort });
    const { failure } = await nextMessage<AttackReport>(attackers);
    expect(failure).to.equal(undefined);
  }

  /** Ends the current attack. Resolves when the backend has closed all connections of the attackers. */
  async function endAttacks(): Promise<void> {
    await send('stop');
    const sessions = async () => ((await api.get('/api/mon/v1/sessions')).json as unknown[]).length;
    await eventually(sessions, (count) => count === 1, { what: 'the end of the attackers', withinMs: ENDED_WITHIN_MS });
  }

  /** Sends events of the neighbour until `work` ends. Returns their 99th percentile and the largest memory growth of the backend. */
  async function whileNeighbourWorks(work: Promise<unknown>): Promise<{ p99Ms: number; grownMb: number }> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    const beforeMb = observed.ownMemoryMb;
    const timesMs: number[] = [];
    let mostMb = beforeMb;
    while (!isDone) {
      sent += 1;
      neighbour.send('event', checkEvent('neighbour', 'work', { output: String(sent) }));
      timesMs.push(await neighbour.ping(String(sent), 30_000));
      mostMb = Math.max(mostMb, observed.ownMemoryMb);
      await delay(10);
    }
    await done;
    timesMs.sort((a, b) => a - b);
    return { p99Ms: percentile(timesMs, 0.99), grownMb: mostMb - beforeMb };
  }

  for (const [attack, { attackers: counts }] of Object.entries(ATTACKS)) {
    for (const count of counts) {
      it(`${attack} (${count} at once)`, () => expectHarmless(attack, count));
    }
  }

  async function expectHarmless(attack: string, count: number): Promise<void> {
    // The delay of this process's own event loop is not the backend's, so it is added to the limit.
    const machine = monitorEventLoopDelay({ resolution: 1 });
    machine.enable();
    const { p99Ms, grownMb } = await whileNeighbourWorks(send({ attack, attackers: count }));
    machine.disable();
    expect(grownMb / count, 'MB per attacker').to.be.at.most(MB_PER_ATTACKER);
    expect(p99Ms, 'ms').to.be.below(MAX_NEIGHBOUR_DELAY_MS + machine.max / 1_000_000);
    expect(neighbour.isOpen).to.equal(true);
    const lastOutput = String(sent);
    const output = async () => at(await api.event('neighbour', 'work'), 'check', 'output');
    await eventually(output, (found) => found === lastOutput, { what: 'the last event of the neighbour' });
  }

  it(`leaves at most ${LEFT_BEHIND_MB} MB behind after all attacks, of which at most ${KEPT_MB} MB are in use`, async () => {
    expect(observed.ownMemoryMb - baseline.ownMb, 'MB').to.be.at.most(LEFT_BEHIND_MB);
    await collected.ownMemoryMb();
    expect((await heapMb()) - baseline.heapMb, 'MB of the heap').to.be.at.most(KEPT_MB);
  });
});
