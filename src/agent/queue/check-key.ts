import type { Event } from '../../resources/event.ts';

/** Separates entity and check; no name of either contains it. */
const SEPARATOR = '/';

/** Events with the same key displace each other when the queue is full. */
export const checkKeyOf = ({ check }: Event): string =>
  check === undefined ? '' : `${check.metadata.name ?? ''}${SEPARATOR}${check.proxy_entity_name}`;

/** The names in a key, as fields of a log line. Events with metrics alone have none. */
export function namesOf(key: string): { check?: string; proxy_entity_name?: string } {
  const [check = '', proxy = ''] = key.split(SEPARATOR);
  return { ...(check === '' ? {} : { check }), ...(proxy === '' ? {} : { proxy_entity_name: proxy }) };
}
