import { isClockOff } from './connection/clock-skew.ts';
import type { RefusedFrames } from './connection/frame-refusals.ts';
import type { Session } from './connection/session.ts';

/** How long a refused message counts as a problem. */
const RECENT_REFUSAL_MS = 15 * 60_000;
/** Duplicate connections listed by address; the others are only counted. */
const MAX_LISTED_DUPLICATES = 5;

/** The inputs of the problems of a connection, besides the connection itself. */
export interface ConnectionContext {
  /** All open connections with the same agent name, perhaps thousands. */
  sameName: ReadonlySet<Pick<Session, 'address'>>;
  refused: RefusedFrames | undefined;
  nowMs: number;
}

type Connection = Pick<Session, 'address' | 'agentName' | 'clockSkewS' | 'state' | 'droppedRequests'>;

/** Describes the problems of a connection, one sentence each. */
export function connectionProblems(connection: Connection, { sameName, refused, nowMs }: ConnectionContext): string[] {
  const { agentName, clockSkewS, state, droppedRequests } = connection;
  const problems: string[] = [];
  for (const other of sameName) {
    if (other === connection) continue;
    if (problems.length >= MAX_LISTED_DUPLICATES) break;
    problems.push(`another connection of ${agentName} is open, from ${other.address}`);
  }
  const unlisted = sameName.size - (sameName.has(connection) ? 1 : 0) - problems.length;
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
