import { isClockOff } from './clock-skew.ts';
import type { RefusedFrames } from './frame-refusals.ts';
import type { Session } from './session.ts';

/** A refused message counts as a problem for so long. */
const RECENT_REFUSAL_MS = 15 * 60_000;
/** Connections of the same name that are listed by their address; of others only the number is told. */
const MAX_LISTED_NAMESAKES = 5;

/** What is known around a connection. */
export interface Surroundings {
  /** Other open connections of an agent of this name. */
  duplicates: readonly Pick<Session, 'address'>[];
  refused: RefusedFrames | undefined;
  nowMs: number;
}

type Connection = Pick<Session, 'agentName' | 'clockSkewS' | 'state' | 'droppedRequests'>;

/** What is wrong with a connection, a sentence for each. */
export function connectionProblems(connection: Connection, { duplicates, refused, nowMs }: Surroundings): string[] {
  const { agentName, clockSkewS, state, droppedRequests } = connection;
  const problems = duplicates
    .slice(0, MAX_LISTED_NAMESAKES)
    .map(({ address }) => `another connection of ${agentName} is open, from ${address}`);
  const unlisted = duplicates.length - problems.length;
  if (unlisted > 0) problems.push(`further open connections of ${agentName}: ${unlisted}`);
  if (isClockOff(clockSkewS)) {
    const direction = clockSkewS > 0 ? 'ahead of' : 'behind';
    problems.push(`its clock is ${Math.abs(clockSkewS)} seconds ${direction} the backend's`);
  }
  if (refused !== undefined && nowMs - refused.lastAtMs < RECENT_REFUSAL_MS) {
    problems.push(`refused messages: ${refused.count}, the last because: ${refused.lastReason}`);
  }
  if (state === 'warning') problems.push('nothing is heard of it');
  if (state === 'critical') problems.push('it is being closed');
  if (droppedRequests > 0) problems.push(`check requests dropped because it does not read: ${droppedRequests}`);
  return problems;
}
