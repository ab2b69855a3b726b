import type { Notification } from '../../store/records/records.ts';

/** The outcome of one run of a handler. */
export interface HandlerResult extends Pick<Notification, 'outcome' | 'reason' | 'status'> {
  /** Whether the target could not be reached, so that a later attempt may succeed. */
  isUnreachable?: boolean;
  /** Whether the run ended before its filters had passed, so that a later attempt evaluates them. */
  isUnfiltered?: boolean;
}

/** The handler could not be started, because the system lacks a resource. It received nothing of the event. */
export interface HandlerNotStarted {
  outcome: 'not-started';
  reason: string;
}

export type HandlerRun = HandlerResult | HandlerNotStarted;

export interface HandlerInput {
  payload: string | Buffer;
  notificationId: string;
  /** Environment entries of the assets and the secrets of the handler. */
  environment?: Environment;
  /** Aborts the run. */
  signal: AbortSignal;
}

/** The variables besides `env_vars`: those of secrets win over `env_vars`, which win over those of assets. */
export interface Environment {
  assets: readonly string[];
  secrets: readonly string[];
}

export const NO_ENVIRONMENT: Environment = { assets: [], secrets: [] };
