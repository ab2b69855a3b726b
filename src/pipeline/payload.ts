import type { Event } from '../resources/event.ts';
import { redactEvent } from '../resources/redaction.ts';
import { encodeJson } from '../wire/json-codec.ts';

/** The input of a handler, or the reason why there is none. */
export type Payload = { text: string } | { failure: string };

const BUILT_IN_MUTATORS: Record<string, (event: Event) => Payload> = {
  /** The event with its secrets redacted. */
  json: (event) => ({ text: encodeJson(redactEvent(event)) }),
  only_check_output: ({ check }) =>
    check === undefined
      ? { failure: 'event requires a check for the only_check_output mutator to work' }
      : { text: check.output },
};

/** Applies the mutator to an event; defaults to `json`. */
export function payloadOf(event: Event, mutator = 'json'): Payload {
  const mutate = Object.hasOwn(BUILT_IN_MUTATORS, mutator) ? BUILT_IN_MUTATORS[mutator] : undefined;
  return mutate?.(event) ?? { failure: `mutator "${mutator}" does not exist` };
}
