import { randomUUID } from 'node:crypto';
import { eventCheckWithDefaults, eventWithDefaults } from '../resources/event.ts';
import { SYSTEM_NAMESPACE } from '../resources/namespace.ts';
import { mergeEvent } from './merge-event.ts';
import { ensureOwnEntity } from './own-entity.ts';
import type { Scope } from './scope.ts';

export const QUARANTINE_CHECK = 'actor-quarantine';

/** Merges the event that says which actors are left alone: critical while there is one. */
export function publishQuarantine(scope: Scope, backendName: string, quarantined: readonly string[]): void {
  const entity = ensureOwnEntity(scope, backendName);
  const output =
    quarantined.length === 0 ? 'no actor is quarantined' : `quarantined after failures: ${quarantined.join(', ')}`;
  const check = {
    ...eventCheckWithDefaults({ metadata: { name: QUARANTINE_CHECK, namespace: SYSTEM_NAMESPACE }, interval: 60 }),
    status: quarantined.length === 0 ? 0 : 2,
    executed: scope.nowS,
    issued: scope.nowS,
    output,
  };
  const metadata = { namespace: SYSTEM_NAMESPACE };
  const event = { ...eventWithDefaults({ metadata }), id: randomUUID(), timestamp: scope.nowS, entity, check };
  mergeEvent(scope, event, { trustsSentHistory: false });
}
