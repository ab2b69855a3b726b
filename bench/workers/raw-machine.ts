import { createActor } from 'xstate';
import { checkTtlMachine } from '../../src/machines/check-ttl.ts';

export interface RawMachineLoad {
  actors: number;
}

/* Measures the events per second of actors of check TTLs with empty effects, each sent to a random actor: the upper bound of the engine. */

const nothing = (): void => undefined;
const machine = checkTtlMachine.provide({
  actions: { setDeadline: nothing, clearDeadline: nothing, publishExpiry: nothing },
});
const SECONDS = 2;
const { actors: count } = JSON.parse(process.argv[2] ?? '{}') as RawMachineLoad;
const actors = Array.from({ length: count }, (_, index) =>
  createActor(machine, { input: { key: `a/${index}`, ttlMs: 180_000, alertStatus: 1, atMs: 0 } }).start(),
);

let sent = 0;
const startedAt = performance.now();
while (performance.now() - startedAt < SECONDS * 1_000) {
  for (let index = 0; index < 500; index += 1) {
    const actor = actors[Math.floor(Math.random() * count)];
    actor?.send({ type: 'result.received', ttlMs: 180_000, alertStatus: 1, atMs: sent + index });
  }
  sent += 500;
}
process.send?.(sent / ((performance.now() - startedAt) / 1_000), () => process.exit(0));
