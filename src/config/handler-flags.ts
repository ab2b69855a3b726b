import { type FlagValues, kinds } from './flags.ts';

/** The limits of handlers. */
export interface HandlerConfig {
  /** The time limit of pipe handlers without a timeout; no limit when absent or 0. */
  readonly handlerRunLimitMs?: number;
  /** The time for which tcp and udp handlers are tried again; never when absent or 0. */
  readonly handlerRetryForMs?: number;
}

export const handlerFlags = {
  'handler-run-limit': {
    kind: kinds.duration(),
    fallback: 600_000,
    about: 'time limit of pipe handlers without a timeout, 0 for none',
  },
  'handler-retry-for': {
    kind: kinds.duration(),
    fallback: 3_600_000,
    about: 'time for which events are tried again when a tcp or udp handler cannot be reached, 0 for no second attempt',
  },
};

export function handlerConfig(values: FlagValues<typeof handlerFlags>): HandlerConfig {
  return { handlerRunLimitMs: values['handler-run-limit'], handlerRetryForMs: values['handler-retry-for'] };
}
