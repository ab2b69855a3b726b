import { setTimeout as delay } from 'node:timers/promises';
import { loadEvents } from '../rows/agent-throughput.ts';
import { latenessesUnderLoad } from '../rows/deadline-lateness.ts';
import { firstPages } from '../rows/first-page.ts';
import { putEvents } from '../rows/rest-put.ts';
import { measureStart, STORED_ENTITIES, withSeededState } from '../rows/stored-state.ts';
import { withBackend } from '../support/benched-backend.ts';
import type { Checkout } from '../support/checkout.ts';
import type { Encoding } from '../support/event-frame.ts';
import { memoryOf } from '../support/process-stats.ts';
import { cpuColumns, cpuPerEvent, cpuTimesOf } from '../support/thread-cpu.ts';
import { nextMessage, runWorker, startWorker } from '../support/workers.ts';
import type { AgentCrowd, CrowdConnected } from '../workers/agent-crowd.ts';
import type { PutKeys } from '../workers/http-load.ts';
import type { EngineLoad, EngineRates } from '../workers/state-engine.ts';
import type { Comparison, Costs } from './comparison.ts';

const SECONDS = 5;
const KB_PER_MB = 1_024;

const SESSIONS = 1_000;
const EVENTS = 300_000;

const agentEvents = (encoding: Encoding): Comparison => ({
  id: 'G2',
  what: `agents' events in ${encoding}, ${SESSIONS} agents with 100 checks each`,
  measure: async (checkout) => {
    const { perSecond, cpu } = await loadEvents({ encoding, sessions: SESSIONS, events: EVENTS, checkout });
    return { ...cpuColumns(cpu), 'events/s': perSecond };
  },
});

const PUT_KEYS: PutKeys = {
  prefix: 'bench-',
  entities: 100,
  stride: 1,
  checks: Array.from({ length: 100 }, (_, index) => `check-${index}`),
};
const PUT_UNTIL = { warmUpSeconds: 4, seconds: SECONDS };

/** The CPU of the warm-up counts too. */
const restPut: Comparison = {
  id: 'G1',
  what: 'PUT of one event',
  measure: (checkout) =>
    withBackend(
      async ({ pid, ...backend }) => {
        const before = cpuTimesOf(pid);
        const load = { keys: PUT_KEYS, ttl: 0, until: PUT_UNTIL };
        const { perSecond, p99Ms, answered } = await putEvents({ pid, ...backend }, load);
        return { ...cpuColumns(cpuPerEvent(before, cpuTimesOf(pid), answered)), 'PUT/s': perSecond, 'p99 ms': p99Ms };
      },
      { checkout },
    ),
};

const ENGINE: EngineLoad = { keys: 10_000, seconds: 3 };

/** Earlier commits do not measure the CPU. */
type EarlierRates = Omit<EngineRates, 'cpuUs'> & Partial<EngineRates>;

/** Each checkout measures its own modules, whose interfaces may differ. */
const stateEngine: Comparison = {
  id: 'G4',
  what: 'state engine alone, one core',
  measure: async (checkout) => {
    const { unwatched, watchedShare, cpuUs = NaN } = await runWorker<EarlierRates>('state-engine', ENGINE, checkout);
    return { 'CPU µs': cpuUs, 'decisions/s': unwatched, 'watched %': watchedShare * 100 };
  },
};

const CROWD = { first: 0, agents: 1_000, localAddress: '127.0.0.2', timeouts: { intervalS: 20, warningS: 600 } };
const RECONNECTS = 10;
const SETTLE_MS = 5_000;

/** Connects agents, and cuts and reconnects all of them ten times. */
async function reconnects(checkout: Checkout): Promise<Costs> {
  return withBackend(
    async ({ pid, agents: port }) => {
      const emptyMb = memoryOf(pid).residentMb;
      const crowd = startWorker('agent-crowd', { ...CROWD, port } satisfies AgentCrowd);
      const give = async (order: 'connect' | 'at once') => {
        crowd.send(order);
        await nextMessage<CrowdConnected>(crowd);
      };
      const kbPerAgent = async () => {
        await delay(SETTLE_MS);
        return ((memoryOf(pid).residentMb - emptyMb) * KB_PER_MB) / CROWD.agents;
      };
      try {
        await give('connect');
        const connectedKb = await kbPerAgent();
        const before = cpuTimesOf(pid);
        for (let round = 0; round < RECONNECTS; round += 1) await give('at once');
        const cpu = cpuPerEvent(before, cpuTimesOf(pid), RECONNECTS * CROWD.agents);
        return { ...cpuColumns(cpu), 'kB connected': connectedKb, 'kB after ten': await kbPerAgent() };
      } finally {
        crowd.disconnect();
      }
    },
    { checkout },
  );
}

const storedState: Comparison = {
  id: 'G7',
  what: `${STORED_ENTITIES.toLocaleString('en')} stored entities: memory (G7) and start (G8)`,
  measure: (checkout) =>
    withSeededState(
      STORED_ENTITIES,
      (stateDir) =>
        measureStart(
          stateDir,
          ({ readyMs, evictedMb, mappedMb }) => ({
            MB: evictedMb,
            'MB without mapped files': evictedMb - mappedMb,
            'start s': readyMs / 1_000,
          }),
          checkout,
        ),
      checkout,
    ),
};

/** PUT/s offered to both commits, which a slow machine accepts too. */
const OFFERED_PER_S = 2_000;

const lateness: Comparison = {
  id: 'G9',
  what: `lateness under ${OFFERED_PER_S.toLocaleString('en')} PUT/s`,
  measure: async (checkout) => {
    const [ttlMs = NaN, keepaliveMs = NaN] = await latenessesUnderLoad(OFFERED_PER_S, checkout);
    return { 'TTLs p99 ms': ttlMs, 'keepalives p99 ms': keepaliveMs };
  },
};

const firstPage: Comparison = {
  id: 'G10',
  what: `first page of a long list under ${OFFERED_PER_S.toLocaleString('en')} PUT/s`,
  measure: async (checkout) => {
    const { alone, loaded } = await firstPages(OFFERED_PER_S, checkout);
    return { 'p50 ms without load': alone.p50Ms, 'p50 ms': loaded.p50Ms, 'p99 ms': loaded.p99Ms };
  },
};

/** The rows that can be compared with those of another commit. */
export const COMPARISONS: readonly Comparison[] = [
  restPut,
  agentEvents('protobuf'),
  agentEvents('json'),
  stateEngine,
  { id: 'G6', what: `ten reconnects of ${CROWD.agents.toLocaleString('en')} agents`, measure: reconnects },
  storedState,
  lateness,
  firstPage,
];
