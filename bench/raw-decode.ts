import { agentEvent } from './agent-events.ts';

/** Events a second that this machine can parse from JSON and write back, on one core: below that nothing that stores JSON can stay. */
const text = JSON.stringify({ ...agentEvent('agent-1', 'check-1') });
const SECONDS = 2;

let count = 0;
const startedAt = performance.now();
while (performance.now() - startedAt < SECONDS * 1_000) {
  for (let index = 0; index < 500; index += 1) JSON.stringify(JSON.parse(text));
  count += 500;
}
process.send?.(count / ((performance.now() - startedAt) / 1_000), () => process.exit(0));
