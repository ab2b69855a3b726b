import { type FlagValues, kinds } from '../parsing/flags.ts';

const MAX_BUFFERED_EVENTS = 10_000_000;

export interface EventLogConfig {
  /** Not written by default. */
  readonly eventLog?: { readonly file: string; readonly maxBuffered: number } | undefined;
}

export const eventLogFlags = {
  'event-log-file': {
    kind: kinds.text,
    fallback: '',
    about: 'file to which the backend appends every event as a line of JSON',
  },
  'event-log-buffer-size': {
    kind: kinds.integer(1, MAX_BUFFERED_EVENTS),
    fallback: 100_000,
    about: 'events that wait to be written to the event log; above the limit the oldest are dropped',
  },
};

export function eventLogConfig(values: FlagValues<typeof eventLogFlags>): EventLogConfig {
  const file = values['event-log-file'];
  if (file === '') return { eventLog: undefined };
  return { eventLog: Object.freeze({ file, maxBuffered: values['event-log-buffer-size'] }) };
}
