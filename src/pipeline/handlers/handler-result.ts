import type { Notification } from '../../store/records.ts';

/** The outcome of one run of a handler. */
export type HandlerResult = Pick<Notification, 'outcome' | 'reason' | 'status'>;
