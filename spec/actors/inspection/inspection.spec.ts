import { expect } from 'chai';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { InspectReader } from '../../../src/actors/inspection/attachment.ts';
import { MACHINES } from '../../../src/actors/core/machines.ts';
import { mergeEvent } from '../../../src/actors/events/merge-event.ts';
import { ActorSystem } from '../../../src/actors/system.ts';
import { parseActorAddresses } from '../../../src/resources/actor-address.ts';
import { hasCheck, parseEvent } from '../../../src/resources/event.ts';
import { outline, type InspectMessage } from '../../support/inspector-client.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const LINGER_MS = 60_000;
const CHECK_TTL = 'check-ttl:default/web-01/disk';

/** A reader that keeps its messages and reads at a given speed. */
class Reader implements InspectReader {
  readonly messages: InspectMessage[] = [];
  failed = false;
  drains = 0;

  send(text: string): void {
    this.messages.push(JSON.parse(text) as InspectMessage);
  }

  drained(): Promise<void> {
    this.drains += 1;
    return Promise.resolve();
  }

  fail(): void {
    this.failed = true;
  }
}

describe('inspection', () => {
  let clock: ManualClock;
  let log: RecordedLog;
  let store: MemoryStore;
  let system: ActorSystem;
  let reader: Reader;

  beforeEach(async () => {
    clock = new ManualClock();
    log = new RecordedLog();
    store = new MemoryStore();
    reader = new Reader();
    system = new ActorSystem({ store, clock, log, backendName: 'backend' });
    await system.start();
  });

  afterEach(() => system.stop());

  const addresses = (...texts: string[]) => parseActorAddresses(texts);

  /** Merges a result of a check on web-01. Resolves when it is durable. */
  async function result(check = 'disk'): Promise<void> {
    const event = parseEvent(proxyEvent('web-01', check, { ttl: 20, interval: 10 }));
    if (!hasCheck(event)) throw new Error('the event has a check');
    await system.decider.decide({ cause: { session: 'test' } }, (ctx) =>
      mergeEvent(ctx, event, { trustsSentHistory: true }),
    ).durable;
  }

  describe('without readers', () => {
    it('adds no observer to the decider, and records no step', async () => {
      expect(system.decider.observer).to.equal(undefined);
      const { result: ctx } = system.decider.decide({ cause: { restore: true } }, (current) => current);
      await result();
      expect(ctx.steps).to.equal(undefined);
      expect(system.decider.observer).to.equal(undefined);
    });

    it('ends a minute after the last reader, and at once when the system stops', async () => {
      const detach = system.inspection.attach(addresses(CHECK_TTL), undefined, reader);
      const other = system.inspection.attach(addresses(CHECK_TTL), undefined, new Reader());
      expect(system.decider.observer).to.equal(system.inspection);
      detach();
      await clock.advance(2 * LINGER_MS);
      expect(system.decider.observer).to.equal(system.inspection);
      other();
      await clock.advance(LINGER_MS - 1);
      expect(system.decider.observer).to.equal(system.inspection);
      await clock.advance(1);
      expect(system.decider.observer).to.equal(undefined);
      system.inspection.attach(addresses(CHECK_TTL), undefined, reader);
      system.inspection.stop();
      expect(system.decider.observer).to.equal(undefined);
    });
  });

  it('records steps of watched actors only', async () => {
    await result('disk');
    await result('load');
    system.inspection.attach(addresses(CHECK_TTL), undefined, reader);
    await result('load');
    await result('disk');
    expect(outline(reader.messages)).to.deep.equal([
      'actor registered',
      'event result.received',
      'snapshot result.received registered',
    ]);
  });

  it('sends nothing to a detached reader, even while it sends the past', async () => {
    await result();
    const detach = system.inspection.attach(addresses(CHECK_TTL), undefined, reader);
    await result();
    detach();
    await result();
    expect(reader.messages).to.have.lengthOf(3);
    const late = new Reader();
    system.inspection.attach(addresses(CHECK_TTL), { seq: 0, n: undefined }, late)();
    await result();
    expect(late.messages).to.deep.equal([]);
  });

  it('sends a long past at the pace of the reader', async () => {
    for (let n = 0; n < 150; n += 1) {
      await result();
      await clock.advance(20_000);
    }
    system.inspection.attach(addresses(CHECK_TTL), { seq: 0, n: undefined }, reader);
    await clock.settle();
    expect(outline(reader.messages).filter((line) => line === 'snapshot deadline.reached warning')).to.have.lengthOf(
      150,
    );
    expect(outline(reader.messages).at(-1)).to.equal('snapshot inspection.past-ended warning');
    expect(reader.drains).to.be.above(0);
    expect(reader.failed).to.equal(false);
  });

  it('ends for a reader that throws, logs the error, and does not affect decisions', async () => {
    await result();
    const healthy = new Reader();
    system.inspection.attach(addresses(CHECK_TTL), undefined, healthy);
    system.inspection.attach(addresses(CHECK_TTL), undefined, reader);
    await clock.settle();
    reader.send = () => {
      throw new Error('broken');
    };
    await result();
    expect(reader.failed).to.equal(true);
    expect(log.errors.map(({ msg }) => msg)).to.deep.equal(['could not send messages to an inspector']);
    expect(store.get('events', 'default/web-01/disk')?.state.occurrences).to.equal(2);
  });

  it('keeps at most a hundred actors without a reader', async () => {
    const left = addresses(...Array.from({ length: 50 }, (_, n) => `entity:default/a-${n}`));
    const more = addresses(...Array.from({ length: 50 }, (_, n) => `entity:default/b-${n}`));
    for (const actors of [addresses(CHECK_TTL), left, more]) system.inspection.attach(actors, undefined, reader)();
    expect(system.inspection.watches('check-ttl', 'default/web-01/disk')).to.equal(false);
    expect(system.inspection.watches('entity', 'default/a-0')).to.equal(true);
    await clock.advance(LINGER_MS);
    expect(system.decider.observer).to.equal(undefined);
  });

  it('ends for a reader whose past cannot be read, and logs the error', async () => {
    store.ledgerSlice = () => {
      throw new Error('a damaged entry');
    };
    system.inspection.attach(addresses(CHECK_TTL), { seq: 0, n: undefined }, reader);
    await clock.settle();
    expect(reader.failed).to.equal(true);
    expect(log.errors.map(({ msg }) => msg)).to.deep.equal(['could not send messages to an inspector']);
  });

  for (const [actor, machine] of Object.entries<AnyStateMachine>(MACHINES)) {
    it(`shows complete snapshots of ${actor}: its machine has no tags, children or history states`, () => {
      const nodes: AnyStateNode[] = [machine.root];
      for (const node of nodes) {
        expect([node.tags, node.invoke, node.history]).to.deep.equal([[], [], false]);
        nodes.push(...Object.values(node.states));
      }
    });
  }
});
