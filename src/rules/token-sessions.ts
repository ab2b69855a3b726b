/** The default lifetime of a refresh token. */
export const REFRESH_MS = 12 * 60 * 60 * 1000;
/** The previous refresh token stays valid for this time, for clients that crash between two calls or share a file. */
const REPEAT_GRACE_MS = 10_000;
/** The maximum number for one user. A further session ends the one that was refreshed longest ago. */
const MAX_REMEMBERED_SESSIONS = 100;

/** The claims from which a refresh token can be created again, for the session it belongs to. */
export interface RefreshTerms {
  /** Id of the token. */
  jti: string;
  /** Unix milliseconds. */
  issuedAtMs: number;
  /** The address of the backend that the client used. */
  issuer: string;
}

/** A login session. It lasts as long as it is refreshed. */
export interface TokenSession {
  id: string;
  /** The valid refresh token. */
  current: RefreshTerms;
  /** The refresh token before it. */
  previous: RefreshTerms | null;
}

/** The sessions of one user, ordered by their last refresh. */
export interface TokenSessions {
  sessions: readonly TokenSession[];
}

export interface RefreshRequest {
  session: string;
  /** Id of the refresh token that was sent. */
  jti: string;
  /** The refresh token that replaces it. */
  next: RefreshTerms;
}

/** `terms` belong to the refresh token of the response. A token that was used before ends its session, because it may be stolen. */
export type RefreshOutcome =
  | { type: 'refreshed' | 'repeated'; terms: RefreshTerms }
  | { type: 'reused'; terms: undefined }
  | { type: 'ended'; terms: undefined };

export const NO_SESSIONS: TokenSessions = { sessions: [] };

/** Adds the session of a login and drops sessions whose refresh tokens have expired after `refreshMs`. */
export function withSession(
  { sessions }: TokenSessions,
  opened: TokenSession,
  nowMs: number,
  refreshMs: number = REFRESH_MS,
): TokenSessions {
  const lasting = sessions.filter(({ current }) => nowMs < current.issuedAtMs + refreshMs);
  return { sessions: [...lasting, opened].slice(-MAX_REMEMBERED_SESSIONS) };
}

export const sessionOf = ({ sessions }: TokenSessions, id: string): TokenSession | undefined =>
  sessions.find((session) => session.id === id);

export const withoutSession = ({ sessions }: TokenSessions, id: string): TokenSessions => ({
  sessions: sessions.filter((session) => session.id !== id),
});

/** Removes all sessions but the one with the id `kept`. */
export const onlySession = ({ sessions }: TokenSessions, kept: string | undefined): TokenSessions => ({
  sessions: sessions.filter((session) => session.id === kept),
});

/** Returns the response to a refresh token, and the sessions after it. */
export function refreshed(
  of: TokenSessions,
  { session: id, jti, next }: RefreshRequest,
): { outcome: RefreshOutcome; after: TokenSessions } {
  const session = sessionOf(of, id);
  if (session === undefined) return { outcome: { type: 'ended', terms: undefined }, after: of };
  const { current, previous } = session;
  const others = withoutSession(of, id);
  if (jti === current.jti) {
    const moved = { id, current: next, previous: current };
    return { outcome: { type: 'refreshed', terms: next }, after: { sessions: [...others.sessions, moved] } };
  }
  if (jti === previous?.jti && next.issuedAtMs < current.issuedAtMs + REPEAT_GRACE_MS) {
    return { outcome: { type: 'repeated', terms: current }, after: of };
  }
  return { outcome: { type: 'reused', terms: undefined }, after: others };
}

/** Reports whether an access token of the session may name `issuer`: one of the last two refresh tokens names it. */
export const isIssuerOf = ({ current, previous }: TokenSession, issuer: string): boolean =>
  issuer === current.issuer || issuer === previous?.issuer;
