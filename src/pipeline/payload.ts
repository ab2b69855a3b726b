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

const CANNOT_RUN_YET = 'cannot run yet, only the built-in mutators json and only_check_output can';

/** Applies the mutator to an event; defaults to `json`. `isStored` returns whether another mutator exists. */
export function payloadOf(event: Event, mutator: string | undefined, isStored: (name: string) => boolean): Payload {
  const name = mutator ?? 'json';
  const mutate = Object.hasOwn(BUILT_IN_MUTATORS, name) ? BUILT_IN_MUTATORS[name] : undefined;
  return mutate?.(event) ?? { failure: `mutator "${name}" ${isStored(name) ? CANNOT_RUN_YET : 'does not exist'}` };
}
