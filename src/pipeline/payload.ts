import type { Event } from '../resources/event.ts';
import { redactEvent } from '../resources/redaction.ts';
import { encodeJsonInTicks, TickBudget } from '../store/tick-budget.ts';

/** The input of a handler, or the reason why there is none. */
export type Payload = { input: string | Buffer } | { failure: string };

const BUILT_IN_MUTATORS: Record<string, (event: Event, budget: TickBudget) => Payload | Promise<Payload>> = {
  /** The event with its secrets redacted. */
  json: async (event, budget) => ({ input: Buffer.concat(await encodeJsonInTicks(redactEvent(event), budget)) }),
  only_check_output: ({ check }) =>
    check === undefined
      ? { failure: 'event requires a check for the only_check_output mutator to work' }
      : { input: check.output },
};

const CANNOT_RUN_YET = 'cannot run yet, only the built-in mutators json and only_check_output can';

export interface MutationPorts {
  /** Whether a mutator that is not built in exists. */
  isStored(name: string): boolean;
  /** Bounds what is encoded in one tick. */
  budget?: TickBudget;
}

/** Applies the mutator to an event; defaults to `json`. Yields to other work while it encodes a long output. */
export async function payloadOf(
  event: Event,
  mutator: string | undefined,
  { isStored, budget = new TickBudget() }: MutationPorts,
): Promise<Payload> {
  const name = mutator ?? 'json';
  const mutate = Object.hasOwn(BUILT_IN_MUTATORS, name) ? BUILT_IN_MUTATORS[name] : undefined;
  if (mutate !== undefined) return mutate(event, budget);
  return { failure: `mutator "${name}" ${isStored(name) ? CANNOT_RUN_YET : 'does not exist'}` };
}
