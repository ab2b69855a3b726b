import { Unauthenticated } from '../../resources/errors.ts';
import { empty, jsonOf } from './earlier-answers.ts';
import { text } from './body-members.ts';
import { type EarlierAuthentication, UNAUTHENTICATED } from './earlier-authentication.ts';
import type { CookieLogins } from './cookie-logins.ts';
import type { EarlierAnswer, EarlierRoute } from './earlier-route.ts';

export interface LoginRoutePorts {
  authentication: Pick<EarlierAuthentication, 'ownerOf'>;
  logins: CookieLogins;
}

const LOGIN_PAGE = '/#/login';

/** The routes of the login by cookie. Source: spec/05 2.3 and 10.3. */
export const earlierLoginRoutes = ({ authentication, logins }: LoginRoutePorts): EarlierRoute[] => [
  { method: 'GET', path: '/login', isPublic: true, handle: () => toLoginPage },
  {
    method: 'POST',
    path: '/login',
    isPublic: true,
    async handle({ body, headers, remoteAddress, isSecure }) {
      const [username, password] = [text('user', body['user']), text('pass', body['pass'])];
      const owner = await authentication.ownerOf({ username, password }, remoteAddress).catch(unlessUnauthenticated);
      // Without the header that makes a browser ask for a password.
      if (owner === undefined) return empty(401);
      logins.end(headers, isSecure);
      return { ...jsonOf(200, { username }), cookies: logins.begin(owner, isSecure) };
    },
  },
  {
    method: 'GET',
    path: '/logout',
    isPublic: true,
    handle: ({ headers, isSecure }) => ({ ...toLoginPage, cookies: logins.end(headers, isSecure) }),
  },
  {
    method: 'GET',
    path: '/config/auth',
    isPublic: true,
    // A client that needs no credentials asks for no login.
    handle: ({ caller }) => jsonOf(200, { driver: caller.isAnonymous && caller !== UNAUTHENTICATED ? '' : 'simple' }),
  },
  {
    method: 'GET',
    path: '/user',
    handle({ caller: { isAnonymous, username } }) {
      if (isAnonymous) throw new Unauthenticated();
      return jsonOf(200, { username });
    },
  },
];

const toLoginPage: EarlierAnswer = {
  status: 302,
  headers: { Location: LOGIN_PAGE },
  type: 'text/html; charset=utf-8',
  body: `<a href="${LOGIN_PAGE}">Found</a>.\n\n`,
};

function unlessUnauthenticated(error: unknown): undefined {
  if (!(error instanceof Unauthenticated)) throw error;
}
