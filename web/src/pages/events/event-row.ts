/** One event, as the API summarises it. */
export interface EventRow {
  namespace: string;
  entity: string;
  entity_class: string;
  check: string;
  status: number;
  state: string;
  output: string;
  last_at: number;
  since: number | null;
  changed_at: number | null;
  last_ok: number;
  occurrences: number;
  silenced: readonly string[];
  history: readonly number[];
  interval: number;
  ttl: number;
  labels: Readonly<Record<string, string>>;
  notifications: readonly { handler: string; outcome: string; reason: string; at: number }[];
}

export type EventKey = string;

export const keyOf = ({ entity, check }: Pick<EventRow, 'entity' | 'check'>): EventKey => `${entity}/${check}`;
export const isProblem = ({ status, state }: Pick<EventRow, 'status' | 'state'>): boolean =>
  status !== 0 || state === 'flapping';

/** Who was notified of an event, or why no one is. One line. */
export function notifiedText(row: EventRow): string {
  if (!isProblem(row)) return '';
  if (row.silenced.length > 0) return `silenced by ${row.silenced.join(', ')}`;
  const sent = row.notifications.filter(({ outcome }) => outcome === 'handled');
  if (sent.length > 0) return `sent to ${sent.map(({ handler }) => handler).join(', ')}`;
  const [other] = row.notifications;
  if (other === undefined) return 'no handler';
  const why = other.reason === '' ? '' : `: ${other.reason}`;
  return `${other.handler} ${other.outcome}${why}`;
}
