import type { Notification } from '../../store/records.ts';

/** The outcome of one attempt to run a handler. */
export type HandlerResult = Pick<Notification, 'outcome' | 'reason' | 'status'>;
