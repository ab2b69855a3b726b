import type { ConfigurationKindName } from '../resources/configuration-kinds.ts';

/**
 * Names consist of letters, digits and `_ . : -`. Joined by slashes they sort as the API lists them: bytewise, by
 * `<namespace>/<name>`. Names of assets may contain slashes; they are at the end of their keys.
 */
export const entityKey = (namespace: string, name: string): string => `${namespace}/${name}`;

export const eventKey = (namespace: string, entity: string, check: string): string => `${namespace}/${entity}/${check}`;

export interface EventAddress {
  namespace: string;
  entity: string;
  check: string;
}

export function eventAddress(key: string): EventAddress {
  const [namespace = '', entity = '', check = ''] = key.split('/');
  return { namespace, entity, check };
}

/** Kinds of configuration, by their names in API paths. */
export type ResourceKind = ConfigurationKindName | 'namespaces' | 'entities' | 'silenced' | 'users' | 'apikeys';

/** The key of a resource. `namespace` is undefined for cluster-wide kinds. */
export const resourceKey = (kind: ResourceKind, namespace: string | undefined, name: string): string =>
  namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;

/** The number of silences of a namespace. No kind has this name. */
export const silenceCountKey = (namespace: string): string => `silence-counts/${namespace}`;

/** The login sessions of a user. No kind has this name. */
export const tokenSessionsKey = (username: string): string => `token-sessions/${username}`;

/** The positions in the rings of a round-robin check. No kind has this name. */
export const ringPositionsKey = (namespace: string, check: string): string => `ring-turns/${namespace}/${check}`;

/** The number of entities. No kind has this name. */
export const ENTITY_COUNT_KEY = 'entity-count';

/** Whether telemetry is refused. No kind has this name. */
export const TESSEN_KEY = 'tessen';

/** Sorts after every name. */
const END = '~';

/** All keys that start with `prefix` are in `[prefix, afterPrefix(prefix))`. */
export function afterPrefix(prefix: string): string {
  if (prefix === '') return END;
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

const SEQ_DIGITS = 16;

/** The index of the ledger by actor and key. No name contains `#`, so that the entries of a key are contiguous and in order. */
export const ledgerIndexKey = (actor: string, key: string, seq: number): string =>
  `${actor}/${key}#${String(seq).padStart(SEQ_DIGITS, '0')}`;

export const seqOfIndexKey = (indexKey: string): number => Number(indexKey.slice(-SEQ_DIGITS));

/** The keys of the outbox are numbers in the order of decisions. */
export const outboxKey = (seq: number): string => String(seq).padStart(SEQ_DIGITS, '0');
