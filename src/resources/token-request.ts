import { Type } from 'typebox';
import { optional, text, validator } from './schema.ts';

/** What a client sends to refresh its session, or to end it; it may send its other tokens with it. */
export const TokenRequestSchema = Type.Object({ refresh_token: optional(text()) }, { $id: 'core/v2.Tokens' });

const validateShape = validator(TokenRequestSchema);

/** The refresh token, empty when there is none. @throws InvalidResource */
export const parseTokenRequest = (value: unknown): string => validateShape(value).refresh_token ?? '';
