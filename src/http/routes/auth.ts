import { InvalidResource, Unauthenticated } from '../../resources/errors.ts';
import type { User } from '../../resources/user.ts';
import { parseBasic } from '../../wire/handshake.ts';
import type { AccessTokens } from '../access-tokens.ts';
import { json, text } from '../answers.ts';
import type { CredentialVerifier } from '../credentials.ts';
import type { Route, RouteRequest } from '../route.ts';

export interface AuthRoutePorts {
  credentials: CredentialVerifier;
  tokens: AccessTokens;
}

const BEARER = 'Bearer ';

export function authRoutes({ credentials, tokens }: AuthRoutePorts): Route[] {
  /** `refusal` is told when user and password do not belong together. */
  const login = async ({ authorization }: RouteRequest, refusal: string): Promise<User> => {
    if (authorization?.startsWith('Basic ') === true) {
      const basic = parseBasic(authorization);
      const user = basic === undefined ? undefined : await credentials.verify(basic.username, basic.password);
      if (user === undefined) throw new Unauthenticated(refusal);
      return user;
    }
    if (authorization?.startsWith(BEARER) === true && (await isValid(authorization.slice(BEARER.length)))) {
      throw new InvalidResource('EOF');
    }
    throw new Unauthenticated('Request unauthorized');
  };

  const isValid = async (token: string): Promise<boolean> => {
    try {
      await tokens.callerOf(token);
      return true;
    } catch (error) {
      if (error instanceof Unauthenticated) return false;
      throw error;
    }
  };

  return [
    {
      method: 'GET',
      path: '/auth',
      access: 'open',
      reads: 'nothing',
      errorsAs: 'text',
      handle: async (request) => {
        const user = await login(request, 'Unauthorized');
        // Clients refresh at the issuer: it is the address that they reached us by.
        return json(await tokens.issue(user, `${request.protocol}://${request.host}`));
      },
    },
    {
      method: 'GET',
      path: '/auth/test',
      access: 'open',
      reads: 'nothing',
      errorsAs: 'text',
      handle: async (request) => {
        await login(request, 'Request unauthorized');
        return text(200, '');
      },
    },
  ];
}
