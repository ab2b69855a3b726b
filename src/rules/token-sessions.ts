/** How long a refresh token counts, unless it is chosen otherwise. */
export const REFRESH_MS = 12 * 60 * 60 * 1000;
/** So long the refresh token before the current one is answered, too: clients that crash between two calls, or share a file, live on. */
const REPEAT_GRACE_MS = 10_000;
/** Of one user; beyond it the one that was refreshed longest ago ends. */
const MAX_REMEMBERED_SESSIONS = 100;

/** All that makes a refresh token again, for the one session it belongs to. */
export interface RefreshTerms {
  /** Id of the token. */
  jti: string;
  /** Unix milliseconds. */
  issuedAtMs: number;
  /** The address that the client reached us by. */
  issuer: string;
}

/** What began with a login, and lasts as long as it is refreshed. */
export interface TokenSession {
  id: string;
  /** Of the only refresh token that counts. */
  current: RefreshTerms;
  /** Of the one before it. */
  previous: RefreshTerms | null;
}

/** The sessions of one user, the one refreshed last at the end. */
export interface TokenSessions {
  sessions: readonly TokenSession[];
}

export interface RefreshRequest {
  session: string;
  /** Id of the refresh token that was sent. */
  jti: string;
  /** Of the refresh token that follows it. */
  next: RefreshTerms;
}

/** `terms` are of the refresh token to answer with. A token that was used before ends its session: two have it, and one of them stole it. */
export type RefreshOutcome =
  | { type: 'refreshed' | 'repeated'; terms: RefreshTerms }
  | { type: 'reused'; terms: undefined }
  | { type: 'ended'; terms: undefined };

export const NO_SESSIONS: TokenSessions = { sessions: [] };

/** A login: its session joins those whose refresh tokens, which count for `refreshMs`, have not expired. */
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

/** `kept` is the id of the one that stays, if any. */
export const onlySession = ({ sessions }: TokenSessions, kept: string | undefined): TokenSessions => ({
  sessions: sessions.filter((session) => session.id === kept),
});

/** What a refresh token is answered with, and the sessions after it. */
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

/** Whether an access token of the session may name `issuer`: it was issued with one of its last two refresh tokens. */
export const isIssuerOf = ({ current, previous }: TokenSession, issuer: string): boolean =>
  issuer === current.issuer || issuer === previous?.issuer;
