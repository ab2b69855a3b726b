import type { Event } from '../resources/event.ts';
import type { SentEvent } from './messages.ts';

/** A longer output is copied to the thread as it is: its JSON may be several times as long. */
const MAX_JSON_OUTPUT = 16_384;

/** Returns an event in the form that costs the main thread the least: JSON, unless it is long or cannot express it. */
export function sentEvent(event: Event): SentEvent {
  if ((event.check?.output.length ?? 0) > MAX_JSON_OUTPUT || hasExactTimestamps(event)) return event;
  return JSON.stringify(event);
}

const hasExactTimestamps = ({ metrics }: Event): boolean =>
  metrics?.points?.some(({ timestamp }) => typeof timestamp === 'bigint') ?? false;
