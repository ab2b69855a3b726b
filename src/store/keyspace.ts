import type { ConfigurationKindName } from '../resources/configuration-kinds.ts';

/**
 * Names hold letters, digits and `_ . : -`, so that joined by slashes they sort as the API lists them: bytewise, by
 * `<namespace>/<name>`. Those of assets hold slashes too, which end their keys.
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

/** Kinds of configuration, by the word of their path in the API. */
export type ResourceKind = ConfigurationKindName | 'namespaces' | 'entities' | 'silenced' | 'users' | 'apikeys';

/** `namespace` is undefined for cluster-wide kinds. */
export const resourceKey = (kind: ResourceKind, namespace: string | undefined, name: string): string =>
  namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;

/** How many silences a namespace has. No kind has this word. */
export const silenceCountKey = (namespace: string): string => `silence-counts/${namespace}`;

/** The sessions that a user's logins began. No kind has this word. */
export const tokenSessionsKey = (username: string): string => `token-sessions/${username}`;

/** Whose turn is next in the rings of a round-robin check. No kind has this word. */
export const ringTurnsKey = (namespace: string, check: string): string => `ring-turns/${namespace}/${check}`;

/** How many entities there are. No kind has this word. */
export const ENTITY_COUNT_KEY = 'entity-count';

/** Whether telemetry is refused. No kind has this word. */
export const TESSEN_KEY = 'tessen';

/** Above every name. */
const END = '~';

/** All keys that begin with `prefix` lie in `[prefix, afterPrefix(prefix))`. */
export function afterPrefix(prefix: string): string {
  if (prefix === '') return END;
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}

const SEQ_DIGITS = 16;

/** No name holds `#`, so that the entries of a key are contiguous and in order. */
export const ledgerIndexKey = (actor: string, key: string, seq: number): string =>
  `${actor}/${key}#${String(seq).padStart(SEQ_DIGITS, '0')}`;

export const seqOfIndexKey = (indexKey: string): number => Number(indexKey.slice(-SEQ_DIGITS));

/** In the order of decisions. */
export const outboxKey = (seq: number): string => String(seq).padStart(SEQ_DIGITS, '0');
