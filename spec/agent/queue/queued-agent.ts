import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { RunningAgent } from '../in-process-agent.ts';
import type { FakeBackend } from '../fake-backend.ts';

const QUEUED_WITHIN_MS = 20_000;

/** Asks for checks `check-0`, `check-1` and so on that are invalid: their events need no command to run. */
export function provokeEvents(backend: FakeBackend, count: number): void {
  for (let index = 0; index < count; index++) {
    backend.requestCheck({ metadata: { name: `check-${index}` }, command: 'true', interval: 0 }, 1);
  }
}

/** The ids of its events without keepalives, in the order in which the agent accepted them. */
export const acceptedIds = ({ log }: RunningAgent): unknown[] =>
  log
    .filter(({ msg, check }) => msg === 'sending event to backend' && check !== 'keepalive')
    .map(({ event_uuid: id }) => id);

const keptCount = ({ log }: RunningAgent): number =>
  log.filter(({ msg }) => msg === 'wrote queued events to disk').reduce((sum, { events }) => sum + Number(events), 0);

/** Makes so many events, whose ids it returns, and goes away before it acknowledged any: they are on the agent's disk. */
export async function queueEvents(backend: FakeBackend, agent: RunningAgent, count: number): Promise<unknown[]> {
  await backend.ready();
  provokeEvents(backend, count);
  backend.options.refuseWith = 503;
  backend.current?.socket.close(1001);
  await eventually(
    () => keptCount(agent),
    (kept) => kept >= count,
    { what: `${count} events on disk`, withinMs: QUEUED_WITHIN_MS },
  );
  const ids = acceptedIds(agent);
  expect(new Set(ids).size).to.equal(count);
  return ids;
}
