import { setImmediate as nextTick } from 'node:timers/promises';
import { storedOutput } from '../rules/earlier-output.ts';
import type { EventStore } from './event-store.ts';

/** The results of a check with the same output. */
export interface OutputGroup {
  output: string;
  total: number;
  clients: string[];
}

/** The results of one check, grouped by the stored part of their output. */
export interface CheckResults {
  check: string;
  summary: OutputGroup[];
}

/** The number of events that are read in one tick of the event loop. */
const READ_PER_TICK = 200;

/**
 * Groups results by check and by exact output, in the order in which they first occur in `members`. It yields to other work; members
 * whose event was deleted meanwhile are left out. Source: spec/05 6.3.
 */
export async function resultsOf(
  events: Pick<EventStore, 'get'>,
  namespace: string,
  members: readonly { entity: string; check: string }[],
): Promise<CheckResults[]> {
  const checks = new Map<string, Map<string, OutputGroup>>();
  for (const [index, { entity, check }] of members.entries()) {
    if (index % READ_PER_TICK === READ_PER_TICK - 1) await nextTick();
    const event = events.get(namespace, entity, check);
    if (event === undefined) continue;
    const output = storedOutput(event.check);
    let groups = checks.get(check);
    if (groups === undefined) checks.set(check, (groups = new Map()));
    const group = groups.get(output);
    if (group === undefined) groups.set(output, { output, total: 1, clients: [entity] });
    else {
      group.total += 1;
      group.clients.push(entity);
    }
  }
  return [...checks].map(([check, groups]) => ({ check, summary: [...groups.values()] }));
}
