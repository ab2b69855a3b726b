import { printable } from '../formats/printable.ts';
import type { LedgerCause } from '../store/ledger/ledger.ts';

/** RFC 3339 in UTC, with milliseconds where there are any. */
export const time = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

/** A length of time in seconds. */
export const seconds = (ms: number): string => `${ms / 1_000} s`;

export const named = (name: string): string => `\`${printable(name)}\``;

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const STATUSES: Readonly<Record<number, string>> = { 0: 'OK', 1: 'warning', 2: 'critical' };

export const statusName = (status: number): string => STATUSES[status] ?? `unknown (status ${status})`;

/** The cause of an entry. */
export function causeOf(cause: LedgerCause): string {
  if ('user' in cause && 'eventId' in cause) return `an event that the user ${named(cause.user ?? '')} sent`;
  if ('eventId' in cause) return `the event ${cause.eventId}`;
  if ('user' in cause) return `the user ${named(cause.user)}`;
  if ('deadlineAtMs' in cause) return `a deadline at ${time(cause.deadlineAtMs)}`;
  if ('session' in cause) return `the session ${cause.session} of an agent`;
  if ('backend' in cause) return `the backend (${cause.backend})`;
  return 'the start of the backend';
}
