import { expect } from 'chai';
import fc from 'fast-check';
import { parseActorAddresses } from '../../../src/resources/actor-address.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { StoredSystem } from '../../support/stored-system.ts';

const ENTITY = 'web-1';
const CHECKS = ['disk', 'load'];
const KEYS = CHECKS.map((check) => `default/${ENTITY}/${check}`);
const ALL = parseActorAddresses(KEYS.map((key) => `check-ttl:${key}`));
const READER = { send: () => undefined, drained: () => Promise.resolve(), fail: () => undefined };

type Step =
  | { type: 'result'; check: string; ttl: number; status: number; alertStatus: string }
  | { type: 'wait'; ms: number }
  | { type: 'deleteEvent'; check: string }
  | { type: 'deleteEntity' }
  | { type: 'restart' };

const check = fc.constantFrom(...CHECKS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('result' as const),
      check,
      ttl: fc.constantFrom(0, 70, 70, 120),
      status: fc.nat({ max: 2 }),
      alertStatus: fc.constantFrom('1', '1', '2'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat({ max: 200_000 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('deleteEvent' as const), check }) },
  { weight: 1, arbitrary: fc.constant({ type: 'deleteEntity' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'restart' as const }) },
);

/** A system whose check TTLs are watched, so that their actors receive every result, or are not. */
class Subject {
  readonly #system: StoredSystem;
  readonly #isWatched: boolean;

  private constructor(system: StoredSystem, isWatched: boolean) {
    this.#system = system;
    this.#isWatched = isWatched;
    this.#watch();
  }

  static async start(isWatched: boolean): Promise<Subject> {
    return new Subject(await StoredSystem.start(), isWatched);
  }

  #watch(): void {
    if (this.#isWatched) this.#system.system.inspection.attach(ALL, undefined, READER);
  }

  async take(taken: Step): Promise<void> {
    const { commands } = this.#system.system;
    switch (taken.type) {
      case 'result':
        await commands.putEvent(parseEvent(this.#eventOf(taken)), 'admin');
        break;
      case 'wait':
        await this.#system.clock.advance(taken.ms);
        break;
      case 'deleteEvent':
        await commands
          .deleteEvent({ namespace: 'default', entity: ENTITY, check: taken.check }, 'admin')
          .catch(() => undefined);
        break;
      case 'deleteEntity':
        await commands.deleteEntity('default', ENTITY, 'admin').catch(() => undefined);
        break;
      case 'restart':
        await this.#system.restart();
        this.#watch();
        break;
    }
  }

  #eventOf({ check: name, ttl, status, alertStatus }: Step & { type: 'result' }): object {
    const { nowS } = this.#system;
    const annotations = { 'mon.io/ttl-status': alertStatus };
    return {
      timestamp: nowS,
      entity: { entity_class: 'proxy', metadata: { name: ENTITY, namespace: 'default' } },
      check: {
        metadata: { name, namespace: 'default', annotations },
        interval: 60,
        ttl,
        status,
        executed: nowS,
        handlers: [],
      },
    };
  }

  /** Everything that the two ways must agree on. */
  observed() {
    const { store, system } = this.#system;
    const records = KEYS.map((key) => store.get('events', key));
    return {
      states: records.map((record) => record?.state),
      ttls: records.map((record) => record?.ttl),
      events: records.map((record) => record && { ...record.event, id: null }),
      armed: [...system.stats().armed],
      ledger: [...store.ledgerEntries()].map(({ entry }) => withoutIds(entry as LedgerEntry)),
    };
  }

  stop(): Promise<void> {
    return this.#system.stop();
  }
}

/** Leaves out random ids, and the hashes that contain them. */
const withoutIds = ({ cause, ...entry }: LedgerEntry): object => ({
  ...entry,
  cause: 'eventId' in cause ? 'an event' : cause,
  hash: undefined,
  prevHash: undefined,
});

describe('the check TTL of a result that changes no state', () => {
  it('has the states, deadlines, ledger and events that it has when its actor receives each result', async function () {
    this.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const [sent, kept] = [await Subject.start(true), await Subject.start(false)];
        try {
          for (const each of steps) {
            await sent.take(each);
            await kept.take(each);
            expect(kept.observed()).to.deep.equal(sent.observed());
          }
        } finally {
          await sent.stop();
          await kept.stop();
        }
      }),
      { numRuns: 8 },
    );
  });
});
