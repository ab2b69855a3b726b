import {
  NO_SESSIONS,
  onlySession,
  refreshed,
  type RefreshOutcome,
  type RefreshRequest,
  type TokenSession,
  type TokenSessions,
  withoutSession,
  withSession,
} from '../../rules/token-sessions.ts';
import { tokenSessionsKey } from '../../store/encoding/keyspace.ts';
import { readResource, readTokenSessions } from '../../store/resource-store.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** Returns false and opens nothing when the user was changed since `verifiedHash` was compared with the password. */
export function openTokenSession(
  ctx: DecisionContext,
  username: string,
  verifiedHash: string,
  opened: TokenSession,
): boolean {
  const user = readResource(ctx.decision, 'users', undefined, username);
  if (user === undefined || user.disabled || user.password_hash !== verifiedHash) return false;
  store(ctx, username, withSession(sessionsOf(ctx, username), opened, ctx.nowMs, ctx.settings.refreshTokenMs));
  return true;
}

export function refreshTokenSession(ctx: DecisionContext, username: string, request: RefreshRequest): RefreshOutcome {
  const { outcome, after } = refreshed(sessionsOf(ctx, username), request);
  store(ctx, username, after);
  return outcome;
}

export function endTokenSession(ctx: DecisionContext, username: string, session: string): void {
  store(ctx, username, withoutSession(sessionsOf(ctx, username), session));
}

/** Ends all login sessions of a user, except `kept`. */
export function endTokenSessions(ctx: DecisionContext, username: string, kept: string | undefined): void {
  store(ctx, username, onlySession(sessionsOf(ctx, username), kept));
}

const sessionsOf = (ctx: DecisionContext, username: string): TokenSessions =>
  readTokenSessions(ctx.decision, username) ?? NO_SESSIONS;

function store(ctx: DecisionContext, username: string, { sessions }: TokenSessions): void {
  const key = tokenSessionsKey(username);
  if (sessions.length > 0) ctx.put('resources', key, { sessions });
  else if (ctx.get('resources', key) !== undefined) ctx.delete('resources', key);
}
