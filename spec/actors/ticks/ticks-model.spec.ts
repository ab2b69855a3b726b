import { expect } from 'chai';
import { eventKey } from '../../../src/store/encoding/keyspace.ts';
import { compareTicks } from '../../support/schedule-oracle.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { TickWorld } from './tick-world.ts';

const RUNS = 5;
const STEPS = 60;
const CHECKS = ['one', 'two', 'three', 'four'];
const AGENTS = ['a', 'b'];
const INTERVALS_S = [1, 5, 7, 10, 60];
/** After a disturbance any explained outcome is right for this time: requests of ticks just before it may be lost. */
const AROUND_MS = 6_000;

/** Random edits, agents that come and go, crashes, failing and slow writes, suspends and clock changes. */
class RandomRun {
  readonly world = new TickWorld();
  readonly disturbed: [number, number][] = [];
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  async play(): Promise<void> {
    const { world } = this;
    await world.begin();
    for (const name of CHECKS) await this.#edit(name);
    for (let step = 0; step < STEPS; step += 1) await this.#step();
    await world.advance(180_000);
    for (const epochs of world.epochs.values()) {
      const last = epochs.at(-1);
      if (last !== undefined) last.untilMs = world.clock.nowMs();
    }
  }

  async #step(): Promise<void> {
    const { world } = this;
    const mute = this.#random.oneIn(6) ? AGENTS[this.#random.below(2)] : undefined;
    switch (this.#random.below(13)) {
      case 0:
      case 1:
      case 2:
        return this.#edit(CHECKS[this.#random.below(CHECKS.length)] ?? 'one');
      case 3:
      case 4:
        return this.#comeOrGo();
      case 5:
        return this.#during(async () => {
          await world.crash();
          await world.clock.advance(this.#random.below(90_000));
          await world.start();
        });
      case 6:
        return this.#during(async () => {
          world.store.beforeWrite = () => Promise.reject(new Error('no space left on device'));
          await world.advance(this.#random.below(20_000));
          world.store.beforeWrite = () => Promise.resolve();
          await world.advance(2_000);
          for (const agent of world.agents) world.disconnect(agent);
        });
      case 7:
        return this.#during(async () => {
          world.clock.suspend(this.#random.below(120_000));
          await world.advance(2_000);
        });
      case 8:
        return this.#during(async () => {
          world.clock.jump(this.#random.below(600_000));
          await world.advance(6_000);
        });
      case 9:
        return this.#edit(CHECKS[this.#random.below(CHECKS.length)] ?? 'one', this.#random.below(9_000));
      default:
        return world.advance(1_000 + this.#random.below(40_000), (agent) => agent === mute);
    }
  }

  /** Edits a check, while nothing is written for `heldMs` before the edit and for as long after it. */
  async #edit(name: string, heldMs = 0): Promise<void> {
    const { world } = this;
    const intervalS = this.#random.oneIn(8) ? 0 : (INTERVALS_S[this.#random.below(INTERVALS_S.length)] ?? 10);
    const release = heldMs > 0 ? world.holdWrites() : undefined;
    await world.advance(heldMs);
    const edited = world.change(name, intervalS, !this.#random.oneIn(4));
    await world.advance(heldMs);
    release?.();
    await edited;
  }

  async #comeOrGo(): Promise<void> {
    const { world } = this;
    const agent = AGENTS[this.#random.below(2)] ?? 'a';
    if (world.agents.includes(agent)) world.disconnect(agent);
    else world.connect(agent);
    await world.clock.settle();
  }

  async #during(disturb: () => Promise<void>): Promise<void> {
    const fromMs = this.world.clock.nowMs() - AROUND_MS;
    await disturb();
    this.disturbed.push([fromMs, this.world.clock.nowMs() + AROUND_MS]);
  }
}

describe('the record of ticks', () => {
  it('has one outcome of a tick whose check is edited before its request is sent', async () => {
    const world = new TickWorld();
    await world.begin();
    world.connect('a');
    await world.change('one', 3, true);
    const release = world.holdWrites();
    await world.advance(3_000);
    const edited = world.change('one', 7, true);
    release();
    await edited;
    await world.advance(60_000);
    const outcomes = world.outcomes('one').map(({ atMs, result: { outcome } }) => ({ atMs, outcome }));
    expect(new Set(outcomes.map(({ atMs }) => atMs)).size).to.equal(outcomes.length);
    expect(outcomes.filter(({ outcome }) => outcome !== 'ran')).to.deep.equal([]);
    expect(outcomes.length).to.be.greaterThan(8);
  });
});

describe('the record of ticks, in random runs', () => {
  /** `MON_SPEC_SEED` gives other runs. */
  const seed = Number(process.env['MON_SPEC_SEED'] ?? 1);

  it(`has one outcome for each due tick, and no result is lost: ${RUNS} runs from seed ${seed}`, async function () {
    this.timeout(120_000);
    let due = 0;
    for (let run = 0; run < RUNS; run += 1) {
      const random = new RandomRun(seed + run);
      await random.play();
      const { world, disturbed } = random;
      const isDisturbed = (atMs: number): boolean => disturbed.some(([from, until]) => from <= atMs && atMs <= until);
      for (const [name, epochs] of world.epochs) {
        const recorded = new Map<number, string>();
        for (const { atMs, result, isWhole } of world.outcomes(name)) {
          expect(isWhole).to.equal(false);
          expect(recorded.has(atMs), `${name} ${atMs} twice, seed ${seed + run}`).to.equal(false);
          const { outcome, reason } = result;
          // Agents come and go: without one the tick is skipped.
          recorded.set(atMs, reason === undefined || reason === 'no agents' ? 'ran' : `${outcome}: ${reason}`);
          if (reason === 'no agents') expect(outcome).to.equal('skipped');
        }
        const compared = compareTicks(name, epochs, recorded, isDisturbed);
        expect(compared.faults, `seed ${seed + run}`).to.deep.equal([]);
        due += compared.due;
      }
      expectResults(world, seed + run);
    }
    expect(due).to.be.greaterThan(RUNS * 200);
  });
});

/** Every result that was stored is one tick that ran; no entity has a tick twice. */
function expectResults(world: TickWorld, seed: number): void {
  for (const agent of AGENTS) {
    for (const check of CHECKS) {
      const outcomes = new Map(world.outcomes(check, agent).map(({ atMs, result }) => [atMs, result]));
      if (world.store.get('events', eventKey('default', agent, check)) === undefined) continue;
      for (const { tickAtMs } of world.answered.filter((sent) => sent.agent === agent && sent.check === check)) {
        const { outcome, reason } = outcomes.get(tickAtMs) ?? {};
        expect(outcome, `${check} of ${agent} at ${tickAtMs}, ${reason}, seed ${seed}`).to.equal('ran');
      }
    }
  }
}
