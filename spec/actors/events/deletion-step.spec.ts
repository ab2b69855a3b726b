import { expect } from 'chai';
import type { DecisionContext } from '../../../src/actors/core/decision-context.ts';
import { applyDeletionStep } from '../../../src/actors/events/deletions.ts';
import { Decision } from '../../../src/store/commit/decision.ts';
import type { EventRecord } from '../../../src/store/records/records.ts';

const NOTHING = { get: () => undefined, keys: () => new Set<string>() };
const STORED = {
  state: { state: 'passing', history: { statuses: [0] }, silenced: [] as string[] },
} as unknown as EventRecord;
const KEYS = ['default/web/a', 'default/web/b', 'default/web/c'];

describe('a step of a deletion', () => {
  it('deletes its hidden items although a later deletion has replaced it, and leaves the rest to that one', () => {
    const decision = new Decision(NOTHING);
    const later = { id: 8, event: 'entity.deleted', cause: { user: 'ann' }, after: '' } as const;
    decision.put('meta', 'last-deletion', 8);
    decision.put('deletions', 'events/default/web/', later);
    for (const key of KEYS) decision.put('events', key, STORED);
    const ctx = {
      decision,
      get: decision.get.bind(decision),
      put: decision.put.bind(decision),
      delete: decision.delete.bind(decision),
      because: (_cause: object, run: () => void) => {
        run();
      },
      record: () => undefined,
      room: { removed: () => undefined },
    } as unknown as DecisionContext;
    const [first = '', second = ''] = KEYS;
    const step = { kind: 'events', prefix: 'default/web/', id: 7, cause: { user: 'ann' } } as const;
    applyDeletionStep(ctx, { ...step, items: [first, second], renewed: [], upTo: second });
    const stored = KEYS.filter((key) => decision.stored.get('events', key) !== undefined);
    expect(stored).to.deep.equal(['default/web/c']);
    expect(decision.get('events', 'default/web/c')).to.equal(undefined);
    expect(decision.get('deletions', 'events/default/web/')).to.deep.equal(later);
  });
});
