import { type FlagValues, kinds } from '../parsing/flags.ts';

/** The limits of handlers. */
export interface HandlerConfig {
  /** The time limit of pipe handlers without a timeout; no limit when absent or 0. */
  readonly handlerRunLimitMs?: number;
  /** The time for which tcp and udp handlers are tried again; never when absent or 0. */
  readonly handlerRetryForMs?: number;
  /** How long handlers of an event wait for those before them; the default of the pipeline when absent. */
  readonly handlerPatienceMs?: number;
  /** Handlers that run at the same time; the default of the pipeline when absent. */
  readonly handlerWorkers?: number;
  /** The user that commands of handlers and mutators run as; that of the backend when absent. */
  readonly commandUser?: string | undefined;
}

const MAX_WORKERS = 10_000;

export const handlerFlags = {
  'command-user': {
    kind: kinds.text,
    fallback: '',
    about: 'user that commands of handlers and mutators run as; requires a backend that runs as root',
  },
  'pipelined-workers': {
    kind: kinds.integer(1, MAX_WORKERS),
    fallback: 100,
    about: 'handlers that run at the same time; one handler gets at most 25 of the places',
  },
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
  'handler-patience': {
    kind: kinds.duration(),
    fallback: 2_000,
    about: 'longest time that a handler waits for the handlers of the same event before it',
  },
};

export function handlerConfig(values: FlagValues<typeof handlerFlags>): HandlerConfig {
  return {
    commandUser: values['command-user'] || undefined,
    handlerWorkers: values['pipelined-workers'],
    handlerRunLimitMs: values['handler-run-limit'],
    handlerRetryForMs: values['handler-retry-for'],
    handlerPatienceMs: values['handler-patience'],
  };
}
