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
import { ATTACKS, REFUSED_MILLION } from './attacks.ts';
import { COLLECTABLE, CollectedProcess } from './collected-process.ts';
import { ObservedProcess } from './observed-process.ts';

const MB_PER_ATTACKER = 10;
/** A small young generation: a large one holds as much garbage as several attackers may cost. */
const HEAP_OPTIONS = { NODE_OPTIONS: `${COLLECTABLE.NODE_OPTIONS} --max-semi-space-size=4` };
/** All that may be left of all attackers together: of the heap's own growth, which no single attack is blamed for. */
const LEFT_BEHIND_MB = 64;
/** What of that is still in use when the garbage is gone. */
const KEPT_MB = 10;
const MB = 1_048_576;
const NEIGHBOUR_LATE_MS = 250;

describe('A13: a peer of the agent port that does harm', function () {
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
    // The heap comes to its size before anything is measured.
    await order({ attack: REFUSED_MILLION, attackers: 1 });
    await calledOff();
    await whileNeighbourWorks(delay(2_000));
    baseline.ownMb = observed.ownMemoryMb;
    await collected.ownMemoryMb();
    baseline.heapMb = await heapMb();
  });

  after(async () => {
    attackers.kill();
    await backend.stop();
  });

  afterEach(() => calledOff());

  const heapMb = async (): Promise<number> => (await scrape(backend)).value('nodejs_heap_size_used_bytes') / MB;

  async function order(asked: Omit<AttackOrder, 'agentPort'> | 'stop'): Promise<void> {
    attackers.send(asked === 'stop' ? asked : { ...asked, agentPort: backend.agentPort });
    const { failure } = await nextMessage<AttackReport>(attackers);
    expect(failure).to.equal(undefined);
  }

  /** Resolves when the backend has noticed that all of them are gone. */
  async function calledOff(): Promise<void> {
    await order('stop');
    const sessions = async () => ((await api.get('/api/mon/v1/sessions')).json as unknown[]).length;
    await eventually(sessions, (count) => count === 1, { what: 'the end of the attackers', withinMs: 10_000 });
  }

  /** How long 99 of 100 events of the neighbour took meanwhile, and by how much the backend grew at most. */
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
      it(`${attack} (${count} at once)`, () => survives(attack, count));
    }
  }

  async function survives(attack: string, count: number): Promise<void> {
    // What this process has to wait for the machine is none of the backend's delay.
    const machine = monitorEventLoopDelay({ resolution: 1 });
    machine.enable();
    const { p99Ms, grownMb } = await whileNeighbourWorks(order({ attack, attackers: count }));
    machine.disable();
    expect(grownMb / count, 'MB per attacker').to.be.at.most(MB_PER_ATTACKER);
    expect(p99Ms, 'ms').to.be.below(NEIGHBOUR_LATE_MS + machine.max / 1_000_000);
    expect(neighbour.isOpen).to.equal(true);
    const wanted = String(sent);
    const output = async () => at(await api.event('neighbour', 'work'), 'check', 'output');
    await eventually(output, (found) => found === wanted, { what: 'the last event of the neighbour' });
  }

  it(`leaves at most ${LEFT_BEHIND_MB} MB behind, all of them together, and no more than ${KEPT_MB} of them in use`, async () => {
    expect(observed.ownMemoryMb - baseline.ownMb, 'MB').to.be.at.most(LEFT_BEHIND_MB);
    await collected.ownMemoryMb();
    expect((await heapMb()) - baseline.heapMb, 'MB of the heap').to.be.at.most(KEPT_MB);
  });
});
