import { entriesOf } from '../../src/rules/check-history.ts';
import { expect } from 'chai';
import {
  type CheckState,
  mergeCheckState,
  NO_PREVIOUS_STATE,
  type PreviousCheckState,
} from '../../src/rules/check-state.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type CheckResult, checkStateAfter, type ExpectedCheckState } from '../simulation/oracle/check-state.ts';

/** The part of the expected state that the merge computes. */
type Computed = Omit<ExpectedCheckState, 'results' | 'status'>;

const EVENTS = 1_000_000;
const LONGEST_SEQUENCE = 400;
const SEED = 20_261_122;

/** The statuses that a check has, how often they change, and how often its thresholds do. */
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

/** Thresholds in percent: both off, one off, and both on with any distance between them. */
function thresholds(random: SeededRandom): Pick<CheckResult, 'lowFlap' | 'highFlap'> {
  const [low, high] = [random.below(100), random.below(100)].sort((a, b) => a - b) as [number, number];
  return random.below(4) === 0 ? { lowFlap: 0, highFlap: high } : { lowFlap: low, highFlap: Math.max(high, low + 1) };
}

function* results(random: SeededRandom): Generator<CheckResult> {
  const behaviour = BEHAVIOURS[random.below(BEHAVIOURS.length)] ?? STEADY;
  const length = 1 + random.below(LONGEST_SEQUENCE);
  let executed = 1_700_000_000 + random.below(1_000_000);
  let status = behaviour.statuses[0] ?? 0;
  let limits = thresholds(random);
  for (let n = 0; n < length; n += 1) {
    if (random.next() < behaviour.changes) status = behaviour.statuses[random.below(behaviour.statuses.length)] ?? 0;
    if (random.next() < behaviour.edits) limits = thresholds(random);
    // An agent that was offline sends results late and out of order.
    executed += random.below(120) - 10;
    yield { status, executed, ...limits };
  }
}

const computedBy = (state: CheckState): Computed => ({
  history: entriesOf(state.history),
  occurrences: state.occurrences,
  watermark: state.occurrencesWatermark,
  state: state.state,
  totalStateChange: state.totalStateChange,
  lastOk: state.lastOk,
});

function isSame(one: Computed, other: Computed): boolean {
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

  it('lead to the status, occurrences, watermark, flapping and history that an independent oracle computes', () => {
    const random = new SeededRandom(SEED);
    const seen = { passing: 0, failing: 0, flapping: 0 };
    let events = 0;
    for (let sequence = 1; events < EVENTS; sequence += 1) {
      let expected: ExpectedCheckState | undefined;
      let previous: PreviousCheckState = NO_PREVIOUS_STATE;
      for (const result of results(random)) {
        const { status, executed, lowFlap, highFlap } = result;
        const merged = mergeCheckState(previous, {
          status,
          executed,
          lowFlapThreshold: lowFlap,
          highFlapThreshold: highFlap,
        });
        expected = checkStateAfter(expected, result);
        if (!isSame(computedBy(merged), expected)) {
          expect(computedBy(merged), `sequence ${sequence}, event ${events}`).to.deep.equal(expected);
        }
        seen[merged.state] += 1;
        previous = merged;
        events += 1;
      }
    }
    // A model that never reaches a state proves nothing about it.
    for (const count of Object.values(seen)) expect(count).to.be.above(EVENTS / 20);
  });
});
