import { isClockOff } from './connection/clock-skew.ts';
import type { RefusedFrames } from './connection/frame-refusals.ts';
import type { Session } from './connection/session.ts';

/** How long a refused message counts as a problem. */
const RECENT_REFUSAL_MS = 15 * 60_000;
/** Duplicate connections listed by address; the others are only counted. */
const MAX_LISTED_DUPLICATES = 5;

/** The inputs of the problems of a connection, besides the connection itself. */
export interface ConnectionContext {
  /** Other open connections with the same agent name. */
  duplicates: readonly Pick<Session, 'address'>[];
  refused: RefusedFrames | undefined;
  nowMs: number;
}

type Connection = Pick<Session, 'agentName' | 'clockSkewS' | 'state' | 'droppedRequests'>;

/** Describes the problems of a connection, one sentence each. */
export function connectionProblems(
  connection: Connection,
  { duplicates, refused, nowMs }: ConnectionContext,
): string[] {
  const { agentName, clockSkewS, state, droppedRequests } = connection;
  const problems = duplicates
    .slice(0, MAX_LISTED_DUPLICATES)
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
  if (state === 'warning') problems.push('the agent is silent');
  if (state === 'critical') problems.push('the connection is being closed');
  if (droppedRequests > 0) problems.push(`check requests dropped because the agent does not read: ${droppedRequests}`);
  return problems;
}
