import { expect } from 'chai';
import { ActorSystem } from '../../src/actors/system.ts';
import { Explainer } from '../../src/explain/explainer.ts';
import { sentencesOf } from '../../src/explain/sentences.ts';
import { parseEventShape } from '../../src/resources/event.ts';
import { silencedWithDefaults } from '../../src/resources/silenced.ts';
import { NotificationStore } from '../../src/store/notification-store.ts';
import { TickStore } from '../../src/store/tick-store.ts';
import { VisibleStore } from '../../src/store/visible-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { readLedger } from '../support/read-ledger.ts';
import { RecordedLog } from '../support/recorded-log.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const START_MS = 1_700_000_000_000;
const STEPS = 150;
const CHECKS = ['disk', 'cpu', 'keepalive'];
const HANDLERS = ['mail', 'of-nobody'];
const SILENCES = ['entity:web', 'linux'];

/** A backend to which users send random events, silences and deletions, on a clock that is set back now and then. */
class RandomBackend {
  readonly store = new MemoryStore();
  readonly clock = new ManualClock(START_MS);
  readonly system = new ActorSystem({
    store: this.store,
    clock: this.clock,
    log: new RecordedLog(),
    backendName: 'backend',
  });
  readonly explainer = new Explainer({
    ledger: this.store,
    records: new VisibleStore(this.store),
    notifications: new NotificationStore(this.store),
    ticks: new TickStore(this.store),
    clock: this.clock,
  });
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  async run(): Promise<void> {
    await this.system.start();
    await this.system.commands.putResource('namespaces', { name: 'default' }, 'ann');
    for (let step = 0; step < STEPS; step += 1) await this.#step();
  }

  async #step(): Promise<void> {
    const { commands } = this.system;
    const random = this.#random;
    await this.clock.advance(random.below(60_000));
    if (random.oneIn(40)) this.clock.jump(-random.below(600_000));
    if (random.oneIn(25)) {
      await this.#perhaps(
        commands.deleteEvent({ namespace: 'default', entity: 'web', check: this.#any(CHECKS) }, 'ann'),
      );
    } else if (random.oneIn(40)) {
      await this.#perhaps(commands.deleteEntity('default', 'web', 'ann'));
    } else if (random.oneIn(6)) {
      await this.#silence();
    } else {
      await commands.putEvent(this.#event(), 'ann');
    }
  }

  async #silence(): Promise<void> {
    const { commands } = this.system;
    const subscription = this.#any(SILENCES);
    if (this.#random.oneIn(2)) await this.#perhaps(commands.deleteSilence('default', `${subscription}:*`, 'bob'));
    else {
      const reason = this.#random.oneIn(2) ? 'maintenance' : undefined;
      const expire_on_resolve = this.#random.oneIn(3);
      const metadata = { namespace: 'default' };
      await commands.putSilence(
        silencedWithDefaults({
          metadata,
          subscription,
          expire: this.#random.below(600),
          expire_on_resolve,
          ...(reason && { reason }),
        }),
        'bob',
      );
    }
  }

  #event() {
    const random = this.#random;
    const metadata = { name: this.#any(CHECKS), namespace: 'default' };
    const status = random.oneIn(2) ? 0 : random.below(4);
    const ttl = random.oneIn(2) ? 60 + random.below(60) : 0;
    const executed = Math.floor(this.clock.nowMs() / 1_000);
    const flapping = random.oneIn(2) ? { low_flap_threshold: 10, high_flap_threshold: 20 } : {};
    const check = {
      metadata,
      interval: 10,
      status,
      ttl,
      executed,
      handlers: HANDLERS,
      ...flapping,
      subscriptions: ['linux'],
    };
    const entity = { entity_class: 'proxy', metadata: { name: 'web', namespace: 'default' }, subscriptions: ['linux'] };
    return parseEventShape({ timestamp: executed, entity, check, metadata: { namespace: 'default' } });
  }

  #any(items: readonly string[]): string {
    return items[this.#random.below(items.length)] ?? '';
  }

  /** A deletion of something that does not exist is refused. */
  async #perhaps(done: Promise<void>): Promise<void> {
    await done.catch(() => undefined);
  }
}

describe('an explanation', function () {
  this.timeout(60_000);
  const random = SeededRandom.fresh();

  it(`has the state that the ledger has, at each time of the ledger (seed ${random.seed})`, async () => {
    const backend = new RandomBackend(random);
    await backend.run();
    const nowMs = backend.clock.nowMs();
    let explained = 0;
    for (const check of CHECKS) {
      const entries = readLedger(backend.store, { actor: 'check-state', key: `default/web/${check}` });
      const times = new Set(entries.flatMap(({ atMs }) => [atMs - 1, atMs]));
      for (const atMs of times) {
        if (atMs > nowMs) continue;
        const explanation = await backend.explainer.explain({ namespace: 'default', entity: 'web', check }, atMs);
        const last = entries.findLast((entry) => entry.atMs <= atMs);
        const state = explanation?.state;
        if (last === undefined) expect(state?.kind).to.equal('absent');
        else if (last.to === null) expect(state?.kind).to.equal('deleted');
        else expect(state).to.include({ kind: 'recorded', state: last.to, status: last.details?.['status'] });
        if (explanation === undefined) throw new Error('there is no explanation');
        for (const sentence of sentencesOf(explanation))
          expect(sentence)
            .to.match(/\.$|^Its output/u)
            .and.not.include('undefined');
        explained += 1;
      }
    }
    expect(explained).to.be.greaterThan(40);
  });

  it('does not exist for an event that is not on record', async () => {
    const backend = new RandomBackend(random);
    await backend.system.start();
    const address = { namespace: 'default', entity: 'web', check: 'never' };
    expect(await backend.explainer.explain(address, undefined)).to.equal(undefined);
  });
});
