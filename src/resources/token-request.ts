import { Type } from 'typebox';
import { optional, text, validator } from './schema.ts';

/** The body of a request to refresh or end a login session. It may contain the other tokens as well. */
export const TokenRequestSchema = Type.Object({ refresh_token: optional(text()) }, { $id: 'core/v2.Tokens' });

const validateShape = validator('token-request', TokenRequestSchema);

/** Returns the refresh token, or an empty string when there is none. @throws InvalidResource */
export const parseTokenRequest = (value: unknown): string => validateShape(value).refresh_token ?? '';
