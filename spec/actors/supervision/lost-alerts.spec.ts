import { expect } from 'chai';
import { ActorFailed } from '../../../src/actors/core/actor-failed.ts';
import { ActorSystem } from '../../../src/actors/system.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { failingMachines, Sabotage } from '../../conformance/inspection/failing-machines.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { quietSession } from '../quiet-session.ts';

const ALERT = 'mon-system/backend/actor-quarantine';

describe('an alert of the backend that was lost with a failed write', () => {
  let store: MemoryStore;
  let clock: ManualClock;
  let system: ActorSystem;
  const sabotage = new Sabotage();

  beforeEach(async () => {
    store = new MemoryStore();
    clock = new ManualClock();
    const machines = failingMachines(sabotage);
    system = new ActorSystem({ store, clock, log: new RecordedLog(), backendName: 'backend', machines });
    await system.start();
    await system.decider.decide({ cause: { restore: true } }, (ctx) => {
      ctx.put('resources', 'namespaces/default', { name: 'default' });
    }).durable;
  });

  afterEach(() => system.stop());

  const failStore = (): void => {
    store.beforeWrite = () => Promise.reject(new Error('no space left on device'));
  };

  async function recover(): Promise<void> {
    store.beforeWrite = () => Promise.resolve();
    await clock.advance(1_000);
  }

  const status = (): number | undefined => store.get('events', ALERT)?.event.check.status;

  it('is raised and resolved when the store can be written again', async () => {
    const session = quietSession({ agentName: 'web', openedAtMs: clock.nowMs() });
    system.agents.open(session);
    system.agents.receiveKeepalive(session, parseEvent(keepalive('web')));
    const send = (ttl: number): void => {
      const event = parseEvent(checkEvent('web', 'disk', { status: 1, ttl, interval: 1 }));
      system.agents.receiveEvent(session, { event, n: undefined, encoded: undefined, bytes: 0 });
    };
    send(600);
    await clock.settle();

    sabotage.arm('default/web/disk', 'guard', 5);
    failStore();
    for (let n = 0; n < 5; n += 1) expect(() => send(0)).to.throw(ActorFailed);
    await clock.settle();
    expect(status()).to.equal(undefined);
    await recover();
    expect(status()).to.equal(2);

    failStore();
    // The quarantine ends.
    await clock.advance(60_000);
    expect(status()).to.equal(2);
    await recover();
    expect(status()).to.equal(0);
  });
});
