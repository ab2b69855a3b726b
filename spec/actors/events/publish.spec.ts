import { expect } from 'chai';
import { GuardLog } from '../../../src/actors/core/guard-log.ts';
import type { ActorKinds } from '../../../src/actors/core/actor-kind.ts';
import { publishEvent } from '../../../src/actors/events/publish.ts';
import { DecisionContext } from '../../../src/actors/core/decision-context.ts';
import type { DecisionContextPorts } from '../../../src/actors/core/decision-ports.ts';
import { DEFAULT_SETTINGS } from '../../../src/actors/core/settings.ts';
import { TickBook } from '../../../src/actors/core/tick-book.ts';
import { EntityRoom } from '../../../src/actors/core/entity-room.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { type Handler, handlerWithDefaults } from '../../../src/resources/handler.ts';
import type { OutboxFilled } from '../../../src/store/commit/decision.ts';
import { resourceKey } from '../../../src/store/encoding/keyspace.ts';
import type { Notification, OutboxEntry } from '../../../src/store/records/records.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const MIB = 1024 * 1024;

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `h${String(n).padStart(4, '0')}`);

/** Publishes an event with the handler set `all`, which has these handlers, and returns the outcome. */
function published(names: string[], { output = '' } = {}) {
  const handlers = new Map<string, Handler>([['all', handlerWithDefaults({ type: 'set', handlers: names })]]);
  for (const name of names) handlers.set(name, handlerWithDefaults({ type: 'pipe', command: 'true' }));
  const resources = new Map([...handlers].map(([name, one]) => [resourceKey('handlers', 'default', name), one]));
  const store = new MemoryStore();
  const ports = {
    reader: {
      get: (table, key) => (table === 'resources' ? (resources.get(key) as never) : store.get(table, key)),
      keys: () => new Set(),
    },
    // No decision in this test wakes an actor.
    kinds: {} as ActorKinds,
    guards: new GuardLog(),
    quarantine: { has: () => false },
    pressure: { isOutboxFull: false },
    settings: DEFAULT_SETTINGS,
    ticks: new TickBook(),
    room: new EntityRoom(DEFAULT_SETTINGS.entityUseLimits, () => []),
  } satisfies DecisionContextPorts;
  const cause = { restore: true } as const;
  const ctx = new DecisionContext(ports, { nowMs: 1, steadyMs: 1, cause, observer: undefined });
  const event = parseEvent({
    entity: { entity_class: 'proxy', metadata: { name: 'sw-1', namespace: 'default' } },
    check: { metadata: { name: 'port', namespace: 'default' }, interval: 60, handlers: ['all'], output },
  });
  publishEvent(ctx, event);
  const { decision } = ctx;
  return {
    entries: decision.puts.filter(({ table }) => table === 'outbox').map(({ value }) => value as OutboxEntry),
    announced: decision.announcements.filter((one): one is OutboxFilled => one.type === 'outbox.filled'),
    skipped: decision.puts
      .filter(({ table }) => table === 'notificationLog')
      .map(({ value }) => value as Notification)
      .map(({ handler, outcome, reason }) => ({ handler, outcome, reason })),
  };
}

describe('a published event', () => {
  it('is queued for each of its handlers and announced with its size', () => {
    const { entries, announced, skipped } = published(['a', 'b'], { output: 'x'.repeat(1_000) });
    expect(entries.map(({ handler }) => handler)).to.deep.equal(['a', 'b']);
    expect(announced.map(({ namespace, handler, key }) => [namespace, handler, key])).to.deep.equal([
      ['default', 'a', 'default/sw-1/port'],
      ['default', 'b', 'default/sw-1/port'],
    ]);
    for (const { bytes } of announced) expect(bytes).to.be.within(1_000, 3_000);
    expect(skipped).to.deep.equal([]);
  });

  it('is queued for at most a thousand handlers and sets, and the reason is recorded', () => {
    const { entries, skipped } = published(numbered(1_200));
    expect(entries).to.have.lengthOf(999);
    const reason = 'an event leads to at most 1000 handlers and sets: this one and those after it are left out';
    expect(skipped).to.deep.equal([{ handler: 'h0999', outcome: 'skipped', reason }]);
  });

  it('is queued for no more handlers than fit into 256 MiB, and the reason is recorded', () => {
    const { entries, skipped } = published(numbered(30), { output: 'x'.repeat(10 * MIB) });
    expect(entries).to.have.lengthOf(25);
    const reason = `the handlers of one event may take at most ${256 * MIB} bytes of it together`;
    const left = numbered(30).slice(25);
    expect(skipped).to.deep.equal(left.map((handler) => ({ handler, outcome: 'skipped', reason })));
  });
});
