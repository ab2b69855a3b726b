import { RunEnded } from './run-ended.ts';

/** The outcome that a run would have. */
export interface End {
  /**
   * `would-run`, or the outcome that would be recorded without a run of the handler. `unknown` when it cannot be found out
   * without an effect.
   */
  outcome: 'would-run' | 'denied' | 'skipped' | 'failed' | 'timed-out' | 'unknown';
  reason: string;
}

/** Ends the reason of an asset that exists and is not on this backend. */
export const NOT_INSTALLED = 'is not installed yet; a run would download it';

export const isUnknown = (reason: string): boolean => reason.endsWith(NOT_INSTALLED);

/** How an error ends the run. @throws the error, when it is another one */
export function endedBy(error: unknown): End {
  if (!(error instanceof RunEnded)) throw error;
  const { outcome, reason } = error.result;
  if (isUnknown(reason)) return { outcome: 'unknown', reason };
  return { outcome: outcome === 'handled' ? 'would-run' : outcome, reason };
}
