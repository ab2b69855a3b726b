import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertUsername } from './names.ts';
import { flag, optional, text, textList, textsOrNull, validator } from './schema.ts';

/** The limit bounds the length of an access token, which contains all groups in base64 and must fit into 64 KiB of request headers. */
const MAX_GROUPS_BYTES = 32 * 1_024;

const userFields = {
  username: optional(text()),
  password_hash: optional(text('bcrypt')),
  groups: optional(textList({}, { description: `at most ${MAX_GROUPS_BYTES} bytes of JSON` })),
  disabled: optional(flag()),
};

/** A stored user. The API never shows the hash. */
export const UserSchema = Type.Object(userFields, { $id: 'core/v2.User' });

/** A user as sent by a client. The password is never stored. */
export const UserRequestSchema = Type.Object(
  { ...userFields, password: optional(text()) },
  { $id: 'core/v2.User.request' },
);

export const PasswordRequestSchema = Type.Object(
  {
    password: optional(text('the current password')),
    password_hash: optional(text('bcrypt hash of the new password')),
  },
  { $id: 'core/v2.User.password' },
);

/** The user as whom agents connect by default. `init` creates it. */
export const AGENT_USERNAME = 'agent';

export type User = ReturnType<typeof userWithDefaults>;

/** A password and its hash as a client sent them. Members that were not sent are empty. */
export interface SentPassword {
  password: string;
  passwordHash: string;
}

export function userWithDefaults(input: Static<typeof UserSchema>) {
  return {
    username: input.username ?? '',
    password_hash: input.password_hash ?? '',
    groups: textsOrNull(input.groups),
    disabled: input.disabled ?? false,
  };
}

const encoder = new TextEncoder();
const validateShape = validator('user', UserSchema);
const validateRequest = validator('user-request', UserRequestSchema);
const validatePassword = validator('password-request', PasswordRequestSchema);

/** @throws InvalidResource */
export function parseUser(value: unknown): User {
  const user = userWithDefaults(validateShape(value));
  assertGroups(user.groups);
  assertUsername(user.username);
  return user;
}

/** Validates shape and groups and sets defaults. The user has no hash yet, because the password is validated later. @throws InvalidResource */
export function parseUserRequest(value: unknown): { user: User; sent: SentPassword } {
  const input = validateRequest(value);
  const sent = { password: input.password ?? '', passwordHash: input.password_hash ?? '' };
  assertGroups(input.groups);
  return { user: { ...userWithDefaults(input), password_hash: '' }, sent };
}

/** @throws InvalidResource */
export function parsePasswordRequest(value: unknown): SentPassword {
  const { password, password_hash: passwordHash } = validatePassword(value);
  return { password: password ?? '', passwordHash: passwordHash ?? '' };
}

/** Checks the number and the total length of the groups. @throws InvalidResource */
export function assertGroups(groups: readonly (string | null)[] | null | undefined): void {
  if (encoder.encode(JSON.stringify(groups ?? [])).length <= MAX_GROUPS_BYTES) return;
  throw new InvalidResource(`groups must be at most ${MAX_GROUPS_BYTES} bytes of JSON`);
}

/** Returns the user without the hash, for responses. */
export function shownUser({ username, groups, disabled }: User): object {
  return { username, groups: groups ?? undefined, disabled };
}

export const userIsDisabled = (username: string): InvalidResource =>
  new InvalidResource(`resource is invalid: user ${username} is disabled`);

export const wrongPassword = (username: string): InvalidResource =>
  new InvalidResource(`resource is invalid: wrong password for user ${username}`);
