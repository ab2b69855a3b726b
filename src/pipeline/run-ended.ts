import type { HandlerResult } from './handlers/handler-result.ts';

/** Ends a run before its handler has started, with an outcome. */
export class RunEnded extends Error {
  readonly result: HandlerResult;

  constructor(outcome: HandlerResult['outcome'], reason: string) {
    super(reason);
    this.result = { outcome, reason, status: undefined };
  }
}
