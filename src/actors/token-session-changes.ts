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
} from '../rules/token-sessions.ts';
import { tokenSessionsKey } from '../store/keyspace.ts';
import { readResource, readTokenSessions } from '../store/resource-store.ts';
import type { Scope } from './scope.ts';

/** False, and nothing is opened, when the user was changed since `verifiedHash` was found right. */
export function openTokenSession(scope: Scope, username: string, verifiedHash: string, opened: TokenSession): boolean {
  const user = readResource(scope.decision, 'users', undefined, username);
  if (user === undefined || user.disabled || user.password_hash !== verifiedHash) return false;
  store(scope, username, withSession(sessionsOf(scope, username), opened, scope.nowMs, scope.settings.refreshTokenMs));
  return true;
}

export function refreshTokenSession(scope: Scope, username: string, request: RefreshRequest): RefreshOutcome {
  const { outcome, after } = refreshed(sessionsOf(scope, username), request);
  store(scope, username, after);
  return outcome;
}

export function endTokenSession(scope: Scope, username: string, session: string): void {
  store(scope, username, withoutSession(sessionsOf(scope, username), session));
}

/** Of a user who may not go on by what he proved before; `kept` is the one session that may. */
export function endTokenSessions(scope: Scope, username: string, kept: string | undefined): void {
  store(scope, username, onlySession(sessionsOf(scope, username), kept));
}

const sessionsOf = (scope: Scope, username: string): TokenSessions =>
  readTokenSessions(scope.decision, username) ?? NO_SESSIONS;

function store(scope: Scope, username: string, { sessions }: TokenSessions): void {
  const key = tokenSessionsKey(username);
  if (sessions.length > 0) scope.put('resources', key, { sessions });
  else if (scope.get('resources', key) !== undefined) scope.delete('resources', key);
}
