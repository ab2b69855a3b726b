import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerEntry } from '../../src/store/ledger/ledger.ts';
import { type BenchedBackend, withBackend } from '../support/benched-backend.ts';
import { HERE } from '../support/checkout.ts';
import { ledgerEntries } from '../support/ledger-entries.ts';
import { type MachineLimits, percentile, type Row } from '../support/measured.ts';
import type { RawDeadlineQueue, RawDeadlineQueueStats } from '../workers/raw-deadline-queue.ts';
import { putEvents } from './rest-put.ts';
import type { SilentAgents } from '../workers/silent-agents.ts';
import { nextMessage, runWorker, startWorker } from '../support/workers.ts';

const AGENTS = 1_000;
const RESULTS_PER_AGENT = 3;
const OVER_SECONDS = 10;
/** Less than the warning timeout: an agent that is missing disarms its check TTLs. */
const TTL_S = 5;
const WARNING_S = 8;
/** The allowed lateness of the last deadline. */
const GRACE_S = 5;
/** PUT/s offered during the measurement, on the machine of the floors. */
const OFFERED_PER_S = 4_000;
/** The least share of the offered load that must be accepted. */
const MIN_REACHED = 0.95;
const KEYS = { prefix: 'bench-', entities: 1_000, stride: 1, checks: ['check-0', 'check-1'] };
/** The load begins before the agents connect and ends after the last deadline. */
const HEAD_START_S = 2;

interface Lateness {
  p99Ms: number;
  /** Negative if a deadline was early. */
  leastMs: number;
}

/** @throws Error unless each deadline was reached exactly once */
function latenessOf(entries: readonly LedgerEntry[], expected: number, what: string): Lateness {
  const reached = entries.filter(({ event, to }) => event === 'deadline.reached' && to === 'warning');
  if (reached.length !== expected) throw new Error(`${reached.length} of ${expected} ${what} were reached`);
  const latenessesMs = reached.map(({ atMs, cause }) => {
    if (!('deadlineAtMs' in cause)) throw new Error(`${what}: an entry must name its deadline`);
    return atMs - cause.deadlineAtMs;
  });
  latenessesMs.sort((a, b) => a - b);
  return { p99Ms: percentile(latenessesMs, 0.99), leastMs: latenessesMs[0] ?? 0 };
}

/** Connects agents that then fall silent. Resolves when all their deadlines must have been reached. */
async function fallSilent({ agents: port }: BenchedBackend): Promise<() => void> {
  const crowd: SilentAgents = {
    port,
    agents: AGENTS,
    resultsPerAgent: RESULTS_PER_AGENT,
    overSeconds: OVER_SECONDS,
    ttl: TTL_S,
    warningS: WARNING_S,
  };
  const worker = startWorker('silent-agents', crowd);
  await nextMessage(worker);
  await delay((WARNING_S + GRACE_S) * 1_000);
  return () => {
    worker.disconnect();
  };
}

async function underLoad(backend: BenchedBackend, perSecond: number): Promise<Lateness[]> {
  const seconds = OVER_SECONDS + WARNING_S + GRACE_S;
  const load = putEvents(backend, {
    keys: KEYS,
    ttl: 0,
    until: { warmUpSeconds: HEAD_START_S, seconds },
    perSecond,
  });
  const silent = delay(HEAD_START_S * 1_000).then(() => fallSilent(backend));
  const [{ perSecond: reached }, leave] = await Promise.all([load, silent]);
  try {
    if (reached < perSecond * MIN_REACHED) {
      throw new Error(`${reached.toFixed(0)} PUT/s were accepted instead of ${perSecond.toFixed(0)}`);
    }
    return [
      latenessOf(await ledgerEntries(backend, 'check-ttl'), AGENTS * RESULTS_PER_AGENT, 'expiries'),
      latenessOf(await ledgerEntries(backend, 'entity'), AGENTS, 'missed keepalives'),
    ];
  } finally {
    leave();
  }
}

/** Returns the 99th percentiles of TTLs and of keepalives, in milliseconds. @throws Error if a deadline was early */
export async function latenessesUnderLoad(perSecond: number, checkout = HERE): Promise<number[]> {
  const found = await withBackend((backend) => underLoad(backend, perSecond), { checkout });
  if (found.some(({ leastMs }) => leastMs < 0)) throw new Error('a deadline was early');
  return found.map(({ p99Ms }) => p99Ms);
}

/** G9: the lateness of check TTLs and missed keepalives under a constant load. */
export async function deadlineLateness({ scale }: MachineLimits): Promise<Row[]> {
  const perSecond = OFFERED_PER_S * scale;
  const near = AGENTS * (RESULTS_PER_AGENT + 1);
  const deadlineQueue: RawDeadlineQueue = { far: 0, near, overSeconds: OVER_SECONDS };
  const { latenessP99Ms } = await runWorker<RawDeadlineQueueStats>('raw-deadline-queue', deadlineQueue);
  const names = ['TTLs', 'keepalives'];
  return (await latenessesUnderLoad(perSecond)).map((p99Ms, index) => ({
    id: 'G9',
    what: `lateness of ${names[index]} under ${perSecond.toFixed(0)} PUT/s, p99; limit: raw deadline queue`,
    unit: 'ms',
    value: p99Ms,
    rawLimit: latenessP99Ms,
    floor: 250,
    isCost: true,
    isFixed: true,
  }));
}
