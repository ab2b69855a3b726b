import type { Notification } from '../../store/records.ts';

/** The outcome of one run of a handler. */
export type HandlerResult = Pick<Notification, 'outcome' | 'reason' | 'status'>;

/** The handler could not be started, because the system lacks a resource. It received nothing of the event. */
export interface HandlerNotStarted {
  outcome: 'not-started';
  reason: string;
}

export type HandlerRun = HandlerResult | HandlerNotStarted;

const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']);

/** Whether a system error means that descriptors, processes or memory are used up, so that a later attempt may succeed. */
export const isShortage = (code: string | undefined): boolean => code !== undefined && SHORTAGES.has(code);
