import { eventAddress } from '../../src/store/encoding/keyspace.ts';

/** Returns the keys of the events of a check in the order of their entities, as the index of the store has them. */
export function keysOfCheck(
  keys: Iterable<string>,
  { namespace, check, afterEntity }: { namespace: string; check: string; afterEntity: string },
): string[] {
  const entityOf = (key: string): string => eventAddress(key).entity;
  return [...keys]
    .filter((key) => {
      const address = eventAddress(key);
      return address.namespace === namespace && address.check === check && address.entity > afterEntity;
    })
    .sort((a, b) => (entityOf(a) < entityOf(b) ? -1 : 1));
}
