import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { runWorker } from '../../bench/support/workers.ts';
import type { HttpLoad, HttpLoadResult } from '../../bench/workers/http-load.ts';
import { COLLECTABLE, CollectedProcess } from '../faults/collected-process.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { soakMinutes } from './soak-minutes.ts';

const MINUTES = soakMinutes(30);
const MINUTE_S = 60;
const HOUR_S = 3_600;
/** Half of G1. A slower machine gets what it can do. */
const EVENTS_PER_S = 4_000;
const CONNECTIONS = 64;
const KEYS = { prefix: 'soaked-', entities: 1_000, stride: 1, checks: ['cpu', 'disk'] };
const TTL_S = 120;
/** The memory may grow for so long, at most for a third of the run. */
const SETTLING_S = 2 * HOUR_S;
const LONGEST_ROUND_S = MINUTE_S;
const ROUNDS = 20;
const MAX_MB_AN_HOUR = 1;
/** The noise of a median of some samples. */
const NOISE_MB = 4;
const MAX_MORE_DESCRIPTORS = 4;
/** The connections of a round are closed by then. */
const CLOSED_AFTER_MS = 2_000;
const MAX_MORE_TIMERS = 20;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

describe('a backend under half of its load', () => {
  it('F21: keeps its memory, its descriptors and its timers, and refuses no event', async function () {
    const durationS = MINUTES * MINUTE_S;
    this.timeout((durationS * 2 + 2 * MINUTE_S) * 1_000);
    const backend = await BackendProcess.start({ environment: COLLECTABLE });
    const samples: { atS: number; mb: number; descriptors: number; timers: number }[] = [];
    let answered = 0;
    try {
      const { headers } = await (await backend.login()).post('/api/core/v2/apikeys', { username: 'admin' });
      const collected = new CollectedProcess(backend);
      const seconds = Math.min(LONGEST_ROUND_S, durationS / ROUNDS);
      const load: HttpLoad = {
        port: backend.apiPort,
        connections: CONNECTIONS,
        authorization: `Key ${String(headers.location).split('/').at(-1)}`,
        keys: KEYS,
        ttl: TTL_S,
        until: { warmUpSeconds: 0, seconds },
        perSecond: EVENTS_PER_S,
      };
      const startedMs = performance.now();
      const elapsedS = (): number => (performance.now() - startedMs) / 1_000;
      while (elapsedS() < durationS) {
        const result = await runWorker<HttpLoadResult>('http-load', load);
        expect(result.failures).to.equal(0);
        answered += result.answered;
        await delay(CLOSED_AFTER_MS);
        const mb = await collected.ownMemoryMb();
        samples.push({ atS: elapsedS(), mb, descriptors: collected.descriptors, timers: collected.timers });
      }
      const settled = samples.filter(({ atS }) => atS >= Math.min(SETTLING_S, durationS / 3));
      const quarter = Math.ceil(settled.length / 4);
      const [early, late] = [settled.slice(0, quarter), settled.slice(-quarter)];
      const hours = ((late.at(-1)?.atS ?? 0) - (early[0]?.atS ?? 0)) / HOUR_S;
      const moreOf = (name: 'mb' | 'descriptors' | 'timers'): number =>
        median(late.map((sample) => sample[name])) - median(early.map((sample) => sample[name]));
      const perS = Math.round(answered / (samples.at(-1)?.atS ?? 1));
      process.stdout.write(`${JSON.stringify({ minutes: MINUTES, perS, early: early[0], late: late.at(-1) })}\n`);
      expect(moreOf('mb')).to.be.below(MAX_MB_AN_HOUR * hours + NOISE_MB);
      expect(moreOf('descriptors')).to.be.below(MAX_MORE_DESCRIPTORS);
      expect(moreOf('timers')).to.be.below(MAX_MORE_TIMERS);
      expect(await backend.stop()).to.equal(0);
    } finally {
      await backend.kill();
      await backend.remove();
    }
  });
});
