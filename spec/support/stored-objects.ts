import { apiKeyWithDefaults } from '../../src/resources/api-key.ts';
import { CONFIGURATION_KINDS, type ConfigurationKindName } from '../../src/resources/configuration-kinds.ts';
import { configOf, entityWithDefaults } from '../../src/resources/entity.ts';
import { hasCheck, parseEventShape } from '../../src/resources/event.ts';
import { silencedWithDefaults } from '../../src/resources/silenced.ts';
import { userWithDefaults } from '../../src/resources/user.ts';
import { mergeCheckState, NO_PREVIOUS_STATE } from '../../src/rules/check-state.ts';
import { emptyPuts, type TablePuts } from '../../src/store/commit/decision.ts';
import { eventKey, type ResourceKind, resourceKey } from '../../src/store/encoding/keyspace.ts';
import type { EventRecord } from '../../src/store/records/records.ts';
import type { TransactionalStore } from '../../src/store/commit/transactional-store.ts';

export type StoredKind = 'events' | ResourceKind;

/** The entity of all stored events. */
export const HOST = 'host';
export const NAMESPACE = 'default';
/** Every `RARE`th object has the label `rare: yes`. */
export const RARE = 500;
const OBJECTS_PER_WRITE = 2_000;

export interface StoredObjects {
  /** Number of the first object; `to` is the number after the last one. */
  from: number;
  to: number;
  /** Bytes of text in each object, if the kind has a field for it. */
  bytes?: number;
}

/** Returns the name of an object. Names sort like their numbers. */
export const storedName = (index: number): string => `o-${String(index).padStart(6, '0')}`;

/** Writes objects directly to the store, without the backend's knowledge. */
export async function storeObjects(
  store: Pick<TransactionalStore, 'write'>,
  kind: StoredKind,
  { from, to, bytes = 0 }: StoredObjects,
): Promise<void> {
  for (let index = from; index < to;) {
    const puts = emptyPuts();
    for (const end = Math.min(to, index + OBJECTS_PER_WRITE); index < end; index += 1) {
      const labels = index % RARE === RARE - 1 ? { rare: 'yes' } : {};
      put(puts, kind, storedName(index), labels, 'x'.repeat(bytes));
    }
    await store.write({ puts, ledger: [] });
  }
}

function put(puts: TablePuts, kind: StoredKind, name: string, labels: Record<string, string>, text: string): void {
  if (kind === 'events') {
    puts.events.set(eventKey(NAMESPACE, HOST, name), eventRecord(name, labels, text));
    return;
  }
  const namespace = isOfNamespace(kind) ? NAMESPACE : undefined;
  const metadata = { name, labels, annotations: { text }, ...(namespace === undefined ? {} : { namespace }) };
  puts.resources.set(resourceKey(kind, namespace, name), resourceOf(kind, metadata, text));
}

const isConfigured = (kind: ResourceKind): kind is ConfigurationKindName => kind in CONFIGURATION_KINDS;

function isOfNamespace(kind: ResourceKind): boolean {
  if (isConfigured(kind)) return CONFIGURATION_KINDS[kind].scope === 'namespace';
  return kind === 'entities' || kind === 'silenced';
}

function resourceOf(kind: ResourceKind, metadata: { name: string }, text: string): object {
  if (isConfigured(kind)) return CONFIGURATION_KINDS[kind].parse({ metadata });
  const { name } = metadata;
  switch (kind) {
    case 'namespaces':
      return { name };
    case 'users':
      return userWithDefaults({ username: name, password_hash: '', groups: [text] });
    case 'apikeys':
      return apiKeyWithDefaults({ metadata, username: name, created_at: 1, hash: '' });
    case 'entities':
      return configOf(entityWithDefaults({ entity_class: 'proxy', metadata }));
    case 'silenced':
      return { ...silencedWithDefaults({ metadata, subscription: name, reason: text }), state: 'active' };
  }
}

function eventRecord(name: string, labels: Record<string, string>, output: string): EventRecord {
  const event = parseEventShape({
    timestamp: 1,
    entity: { entity_class: 'proxy', metadata: { name: HOST, namespace: NAMESPACE } },
    check: { metadata: { name, namespace: NAMESPACE }, interval: 60, output, executed: 1 },
    metadata: { namespace: NAMESPACE, labels },
  });
  if (!hasCheck(event)) throw new Error('an event without a check is not stored');
  const result = { status: 0, executed: 1, lowFlapThreshold: 0, highFlapThreshold: 0 };
  return { state: mergeCheckState(NO_PREVIOUS_STATE, result), ttl: undefined, event };
}
