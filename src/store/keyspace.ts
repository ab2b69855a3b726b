/** Names hold letters, digits and `_ . : -`, so that joined by slashes they sort as the API lists them: bytewise, by `<namespace>/<name>`. */
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
export const RESOURCE_KINDS = [
  'namespaces',
  'entities',
  'checks',
  'handlers',
  'users',
  'roles',
  'rolebindings',
  'clusterroles',
  'clusterrolebindings',
  'apikeys',
] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** `namespace` is undefined for cluster-wide kinds. */
export const resourceKey = (kind: ResourceKind, namespace: string | undefined, name: string): string =>
  namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;

/** All keys that begin with `prefix` (which ends with a slash) lie in `[prefix, afterPrefix(prefix))`. */
export const afterPrefix = (prefix: string): string => `${prefix.slice(0, -1)}0`;

const SEQ_DIGITS = 16;

/** No name holds `#`, so that the entries of a key are contiguous and in order. */
export const ledgerIndexKey = (actor: string, key: string, seq: number): string =>
  `${actor}/${key}#${String(seq).padStart(SEQ_DIGITS, '0')}`;

export const seqOfIndexKey = (indexKey: string): number => Number(indexKey.slice(-SEQ_DIGITS));

/** In the order of decisions. */
export const outboxKey = (seq: number): string => String(seq).padStart(SEQ_DIGITS, '0');
