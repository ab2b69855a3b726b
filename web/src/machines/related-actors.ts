/** The session ids of the actors whose states explain each other: an entity with its checks' states, by their common key. */
export function relatedActors(machine: string, key: string): string[] {
  const own = `${machine}:${key}`;
  const [namespace = '', entity = '', check] = key.split('/');
  if (machine === 'entity') return [own, `check-state:${key}/keepalive`];
  if ((machine !== 'check-ttl' && machine !== 'check-state') || check === undefined) return [own];
  const states = [`entity:${namespace}/${entity}`, `check-state:${key}`];
  return check === 'keepalive' ? states : [...states, `check-ttl:${key}`];
}
