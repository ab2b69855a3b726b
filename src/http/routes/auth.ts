import { Type } from 'typebox';
import { InvalidResource, Unauthenticated } from '../../resources/errors.ts';
import { parseTokenRequest, TokenRequestSchema } from '../../resources/token-request.ts';
import type { User } from '../../resources/user.ts';
import { parseBasic } from '../../wire/handshake.ts';
import { type AccessTokens, InvalidToken, type TokenPair } from '../../auth/access-tokens.ts';
import { json, text } from '../answer/answers.ts';
import type { CredentialVerifier } from '../../auth/credentials.ts';
import type { LoginSessions, SentTokens } from '../../auth/login-sessions.ts';
import type { LoginThrottle } from '../../auth/login-throttle.ts';
import { TEXT } from '../openapi/descriptions.ts';
import type { Answer, Description, Route, RouteRequest } from '../request/route.ts';

export interface AuthRoutePorts {
  credentials: CredentialVerifier;
  throttle: Pick<LoginThrottle, 'login'>;
  sessions: LoginSessions;
  tokens: Pick<AccessTokens, 'expiredClaimsOf'>;
}

/** A host name of 255 characters and a port. */
const MAX_HOST_LENGTH = 261;
const BASIC = 'Basic ';
const BEARER = 'Bearer ';
/** Answer to any other authentication scheme, or none. */
const REFUSAL = 'Request unauthorized';

const TokenPairSchema = Type.Object(
  {
    access_token: Type.String(),
    expires_at: Type.Integer({ description: 'Expiry of the access token, Unix seconds' }),
    refresh_token: Type.String({ description: 'Can be used once' }),
  },
  { $id: 'mon/v1.TokenPair' },
);
const LOGIN: Pick<Description, 'tag' | 'credentials' | 'errors'> = {
  tag: 'login',
  credentials: ['basic'],
  errors: ['too-many-logins', 'overloaded', 'store-unavailable'],
};
const SESSION: Pick<Description, 'tag' | 'credentials' | 'body'> = {
  tag: 'login',
  credentials: ['bearer'],
  body: TokenRequestSchema,
};
const TOKENS: Description['answers'] = { 200: { schema: TokenPairSchema } };

export function authRoutes(ports: AuthRoutePorts): Route[] {
  return [...loginRoutes(ports), ...sessionRoutes(ports)];
}

function loginRoutes({ credentials, throttle, sessions }: AuthRoutePorts): Route[] {
  /** `refusal` is the error text for a wrong user name or password. */
  const login = async ({ authorization = '', remoteAddress }: RouteRequest, refusal: string): Promise<User> => {
    if (authorization.startsWith(BASIC)) {
      const basic = parseBasic(authorization);
      if (basic === undefined) throw new Unauthenticated(refusal);
      const { username, password } = basic;
      const user = await throttle.login({ username, remoteAddress, entryPoint: 'api' }, (onGuess) =>
        credentials.verify(username, password, onGuess),
      );
      if (user === undefined) throw new Unauthenticated(refusal);
      return user;
    }
    if (!authorization.startsWith(BEARER)) throw new Unauthenticated(REFUSAL);
    await orBadRequest(Promise.resolve().then(() => sessions.callerOf(authorization.slice(BEARER.length))));
    throw new InvalidResource('EOF');
  };

  return [
    {
      method: 'GET',
      path: '/auth',
      access: 'open',
      reads: 'nothing',
      errorsAs: 'text',
      description: { ...LOGIN, summary: 'Log in', answers: TOKENS },
      handle: async (request) =>
        tokenAnswer(await sessions.open(await login(request, 'Unauthorized'), issuer(request))),
    },
    {
      method: 'GET',
      path: '/auth/test',
      access: 'open',
      reads: 'nothing',
      errorsAs: 'text',
      description: { ...LOGIN, summary: 'Verify a user name and password', answers: { 200: TEXT } },
      handle: async (request) => {
        await login(request, REFUSAL);
        return text(200, '');
      },
    },
  ];
}

function sessionRoutes({ sessions, tokens }: AuthRoutePorts): Route[] {
  /** Requires an access token signed by this backend, possibly expired. */
  const admit = async (authorization = ''): Promise<void> => {
    if (authorization.startsWith(BASIC)) throw new InvalidResource('invalid access token');
    if (!authorization.startsWith(BEARER)) throw new Unauthenticated(REFUSAL);
    await orBadRequest(tokens.expiredClaimsOf(authorization.slice(BEARER.length), 'access'));
  };
  const posting = (path: string, description: Description, handle: Route['handle']): Route => ({
    method: 'POST',
    path,
    access: 'open',
    admit,
    reads: 'json',
    errorsAs: 'text',
    description,
    handle,
  });
  return [
    posting(
      '/auth/token',
      { ...SESSION, summary: 'Refresh the tokens of a session', answers: TOKENS },
      async (request) => {
        return tokenAnswer(await orBadRequest(sessions.refresh(sentTokens(request), issuer(request))));
      },
    ),
    posting('/auth/logout', { ...SESSION, summary: 'End a session', answers: { 200: TEXT } }, async (request) => {
      await orBadRequest(sessions.end(sentTokens(request)));
      return text(200, '');
    }),
  ];
}

const sentTokens = ({ authorization = '', body }: RouteRequest): SentTokens => ({
  access: authorization.slice(BEARER.length),
  refresh: parseTokenRequest(body),
});

/**
 * The URL at which the client reached this backend. Clients refresh there, and the session stores it.
 * @throws InvalidResource
 */
function issuer({ protocol, host }: RouteRequest): string {
  if (host.length <= MAX_HOST_LENGTH) return `${protocol}://${host}`;
  throw new InvalidResource(`header Host must be at most ${MAX_HOST_LENGTH} characters`);
}

const tokenAnswer = (pair: TokenPair): Answer => ({ ...json(pair), headers: { 'Cache-Control': 'no-store' } });

/** Converts an invalid token to the error text of these routes. */
async function orBadRequest<T>(outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (cause: unknown) {
    if (cause instanceof InvalidToken) throw new Unauthenticated(REFUSAL, { cause });
    throw cause;
  }
}
