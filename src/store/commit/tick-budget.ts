import { setImmediate as nextTick } from 'node:timers/promises';
import { jsonParts } from '../../wire/json-parts.ts';

/** Bytes encoded in one tick. One event can be in the outbox for many handlers, with 10 MiB or more for each. */
const MAX_BYTES_PER_TICK = 4 * 1024 * 1024;

/** Counts the bytes that are encoded, and yields to other work when they are many. */
export class TickBudget {
  readonly #yieldToOthers: () => Promise<unknown>;
  #bytes = 0;

  constructor(yieldToOthers: () => Promise<unknown> = nextTick) {
    this.#yieldToOthers = yieldToOthers;
  }

  /** Counts bytes. Returns a promise to wait for when the budget of this tick is spent. */
  spend(bytes: number): Promise<unknown> | undefined {
    this.#bytes += bytes;
    if (this.#bytes < MAX_BYTES_PER_TICK) return undefined;
    this.#bytes = 0;
    return this.#yieldToOthers();
  }
}

/** Encodes a value as JSON. Yields to other work between the parts of long texts. */
export async function encodeJsonInTicks(value: unknown, budget: TickBudget): Promise<Buffer[]> {
  const encoded: Buffer[] = [];
  for (const part of jsonParts(value)) {
    const bytes = Buffer.from(part);
    encoded.push(bytes);
    const pause = budget.spend(bytes.length);
    if (pause !== undefined) await pause;
  }
  return encoded;
}
