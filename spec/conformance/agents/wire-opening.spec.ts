import { expect } from 'chai';
import { MAX_OPEN_DECISIONS } from '../../../src/store/commit/committer.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, keepalive } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { sessionStates } from '../../support/session-states.ts';

/** The time between two pongs to an agent that is not read. */
const PONG_INTERVAL_MS = 10_000;
const STORED_WITHIN_MS = 40_000;
/** More messages than are held of one agent before reading stops. */
const HELD = 200;

describe('the opening of a session', function () {
  this.timeout(60_000);
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  it('succeeds while too much waits for the store', async () => {
    const sender = await backend.connected({ name: 'open-sender' });
    const event = JSON.stringify(checkEvent('open-sender', 'c', { status: 1 }));
    const held = backend.store.hold();
    sender.sendRaw(`event\n${event}`);
    await held;
    for (let n = 0; n < MAX_OPEN_DECISIONS + HELD; n += 1) sender.sendRaw(`event\n${event}`);
    await eventually(
      async () => {
        await backend.clock.advance(PONG_INTERVAL_MS);
        return sender.pongs.length > 0;
      },
      Boolean,
      { what: 'the pause of the sender', withinMs: STORED_WITHIN_MS, everyMs: 100 },
    );

    const late = await backend.connect({ name: 'open-late' });
    expect(at(await late.next('entity_config'), 'metadata', 'name')).to.equal('not found');
    late.send('keepalive', keepalive('open-late'));
    await late.ping('its keepalive was read');
    expect(await api.entity('open-late')).to.equal(undefined);

    backend.store.release();
    await eventually(
      () => api.entity('open-late'),
      (entity) => entity !== undefined,
      { what: 'the entity of the agent', withinMs: STORED_WITHIN_MS },
    );
    expect(late.isOpen).to.equal(true);
    expect(await sessionStates(api, 'open-late')).to.deep.equal(['registered']);
    await eventually(
      async () => at(await api.event('open-sender', 'c'), 'check', 'occurrences'),
      (occurrences) => occurrences === MAX_OPEN_DECISIONS + HELD + 1,
      { what: 'the last of the held events', withinMs: STORED_WITHIN_MS },
    );
  });

  /** The store can be written again; lost messages are not stored and do not return. */
  async function isForgotten(name: string): Promise<void> {
    await backend.clock.advance(1_000);
    expect(await sessionStates(api, name)).to.deep.equal([]);
    const again = await backend.connected({ name });
    await backend.clock.settle();
    expect(await sessionStates(api, name)).to.deep.equal(['registered']);
    await backend.clock.advance(120_000);
    await again.disconnect();
    await eventually(
      () => sessionStates(api, name),
      (states) => states.at(-1) === 'deregistered',
      { what: 'the end of the session' },
    );
    const entries = await api.ledger({ actor: 'connection' });
    expect(new Set(entries.map(({ key }) => key)).size).to.equal(entries.filter(({ from }) => from === null).length);
    expect(backend.log.errors.map(({ msg }) => msg)).to.deep.equal(['store cannot be written']);
  }

  it('that is lost with a failed write ends the connection, leaves nothing behind, and can be repeated', async () => {
    backend.store.failNextWrites(1);
    const agent = await backend.connect({ name: 'open-lost' });
    expect(await agent.closed()).to.have.property('code', 1011);
    await isForgotten('open-lost');
  });

  it('that waits behind a failed write is lost with it in the same way', async () => {
    const sender = await backend.connected({ name: 'open-before' });
    await backend.clock.settle();
    const held = backend.store.hold();
    sender.send('event', checkEvent('open-before', 'c'));
    await held;
    const agent = await backend.connected({ name: 'open-behind' });
    backend.store.failNextWrites(1);
    backend.store.release();
    expect(await agent.closed()).to.have.property('code', 1011);
    expect(await sender.closed()).to.have.property('code', 1011);
    await isForgotten('open-behind');
  });
});
