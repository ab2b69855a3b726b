import { createActor } from 'xstate';
import { checkTtlMachine } from '../../src/machines/check-ttl.ts';

/** Measures the events per second of one XState actor of a check TTL with empty effects: the upper bound of the engine. */
const nothing = (): void => undefined;
const machine = checkTtlMachine.provide({
  actions: { setDeadline: nothing, clearDeadline: nothing, publishExpiry: nothing },
});
const SECONDS = 2;
const actor = createActor(machine, { input: { key: 'a', ttlMs: 180_000, alertStatus: 1, atMs: 0 } }).start();

let count = 0;
const startedAt = performance.now();
while (performance.now() - startedAt < SECONDS * 1_000) {
  for (let index = 0; index < 500; index += 1) {
    actor.send({ type: 'result.received', ttlMs: 180_000, alertStatus: 1, atMs: count + index });
  }
  count += 500;
}
process.send?.(count / ((performance.now() - startedAt) / 1_000), () => process.exit(0));
