import { entriesOf } from '../../src/rules/check-history.ts';
import { expect } from 'chai';
import {
  type CheckState,
  mergeCheckState,
  NO_PREVIOUS_STATE,
  type PreviousCheckState,
} from '../../src/rules/check-state.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { CheckStateOracle, type Known, type Result } from './check-state-oracle.ts';

const EVENTS = 1_000_000;
const LONGEST_SEQUENCE = 400;
const SEED = 20_261_122;

/** How a check behaves: which statuses it has, how often it changes them, and how often somebody edits its thresholds. */
interface Behaviour {
  statuses: readonly number[];
  changes: number;
  edits: number;
}

const STEADY: Behaviour = { statuses: [0], changes: 1, edits: 0 };
const BEHAVIOURS: readonly Behaviour[] = [
  STEADY,
  { statuses: [0, 1], changes: 0.02, edits: 0 },
  { statuses: [0, 1], changes: 0.5, edits: 0.01 },
  { statuses: [0, 1, 2], changes: 0.2, edits: 0.01 },
  { statuses: [0, 1, 2, 3, 255, 4_294_967_295], changes: 0.9, edits: 0.05 },
  { statuses: [1, 2], changes: 0.3, edits: 0.02 },
  { statuses: [0, 2], changes: 1, edits: 0.02 },
];

/** Low and high, percent: off, half off, and on with any distance between them. */
function thresholds(random: SeededRandom): { low: number; high: number } {
  const [low, high] = [random.below(100), random.below(100)].sort((a, b) => a - b) as [number, number];
  return random.below(4) === 0 ? { low: 0, high } : { low, high: Math.max(high, low + 1) };
}

function* results(random: SeededRandom): Generator<Result> {
  const behaviour = BEHAVIOURS[random.below(BEHAVIOURS.length)] ?? STEADY;
  const length = 1 + random.below(LONGEST_SEQUENCE);
  let executed = 1_700_000_000 + random.below(1_000_000);
  let status = behaviour.statuses[0] ?? 0;
  let limits = thresholds(random);
  for (let n = 0; n < length; n += 1) {
    if (random.next() < behaviour.changes) status = behaviour.statuses[random.below(behaviour.statuses.length)] ?? 0;
    if (random.next() < behaviour.edits) limits = thresholds(random);
    // Results of an agent that was offline come late, and out of order.
    executed += random.below(120) - 10;
    yield { status, executed, ...limits };
  }
}

const asKnown = (state: CheckState): Known => ({
  history: entriesOf(state.history),
  occurrences: state.occurrences,
  watermark: state.occurrencesWatermark,
  state: state.state,
  totalStateChange: state.totalStateChange,
  lastOk: state.lastOk,
});

function isSame(one: Known, other: Known): boolean {
  return (
    one.occurrences === other.occurrences &&
    one.watermark === other.watermark &&
    one.state === other.state &&
    one.totalStateChange === other.totalStateChange &&
    one.lastOk === other.lastOk &&
    one.history.length === other.history.length &&
    one.history.every(
      ({ status, executed }, index) =>
        status === other.history[index]?.status && executed === other.history[index]?.executed,
    )
  );
}

describe(`F30: ${EVENTS} random results, seed ${SEED}`, function () {
  this.timeout(120_000);

  it('leave status, occurrences, watermark, flapping and history as an independent oracle says, without a difference', () => {
    const random = new SeededRandom(SEED);
    const seen = { passing: 0, failing: 0, flapping: 0 };
    let events = 0;
    for (let sequence = 1; events < EVENTS; sequence += 1) {
      const oracle = new CheckStateOracle();
      let previous: PreviousCheckState = NO_PREVIOUS_STATE;
      for (const { low, high, ...result } of results(random)) {
        const merged = mergeCheckState(previous, { ...result, lowFlapThreshold: low, highFlapThreshold: high });
        const wanted = oracle.after({ ...result, low, high });
        if (!isSame(asKnown(merged), wanted)) {
          expect(asKnown(merged), `sequence ${sequence}, event ${events}`).to.deep.equal(wanted);
        }
        seen[merged.state] += 1;
        previous = merged;
        events += 1;
      }
    }
    // A model that never meets a state says nothing of it.
    for (const count of Object.values(seen)) expect(count).to.be.above(EVENTS / 20);
  });
});
