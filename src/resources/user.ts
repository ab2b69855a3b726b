import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertUsername } from './names.ts';
import { flag, listOrNull, optional, text, validator } from './schema.ts';

/** An access token names them all, and takes four characters for three bytes: it must fit into the headers of a request, which are 64 KiB. */
const MAX_GROUPS_BYTES = 32 * 1_024;

const userFields = {
  username: optional(text()),
  password_hash: optional(text('bcrypt')),
  groups: optional(Type.Array(Type.String(), { description: `at most ${MAX_GROUPS_BYTES} bytes of JSON` })),
  disabled: optional(flag()),
};

/** As it is stored; the API never shows the hash. */
export const UserSchema = Type.Object(userFields, { $id: 'core/v2.User' });

/** As it is sent; the password is never stored. */
export const UserRequestSchema = Type.Object(
  { ...userFields, password: optional(text()) },
  { $id: 'core/v2.User.request' },
);

export const PasswordRequestSchema = Type.Object(
  {
    password: optional(text('the one that counts now')),
    password_hash: optional(text('bcrypt, of the new one')),
  },
  { $id: 'core/v2.User.password' },
);

export type User = ReturnType<typeof userWithDefaults>;

/** Empty where it was not sent. */
export interface SentPassword {
  password: string;
  passwordHash: string;
}

export function userWithDefaults(input: Static<typeof UserSchema>) {
  return {
    username: input.username ?? '',
    password_hash: input.password_hash ?? '',
    groups: listOrNull(input.groups),
    disabled: input.disabled ?? false,
  };
}

const encoder = new TextEncoder();
const validateShape = validator(UserSchema);
const validateRequest = validator(UserRequestSchema);
const validatePassword = validator(PasswordRequestSchema);

/** @throws InvalidResource */
export function parseUser(value: unknown): User {
  const user = userWithDefaults(validateShape(value));
  assertGroups(user.groups);
  assertUsername(user.username);
  return user;
}

/** Shape, defaults and groups only; the user is without a hash, for the password has still to be judged. @throws InvalidResource */
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

/** How many and how long they may be together. @throws InvalidResource */
export function assertGroups(groups: readonly string[] | null | undefined): void {
  if (encoder.encode(JSON.stringify(groups ?? [])).length <= MAX_GROUPS_BYTES) return;
  throw new InvalidResource(`groups must be at most ${MAX_GROUPS_BYTES} bytes of JSON`);
}

/** As it is shown: never with its hash. */
export function shownUser({ username, groups, disabled }: User): object {
  return { username, groups: groups ?? undefined, disabled };
}

export const userIsDisabled = (username: string): InvalidResource =>
  new InvalidResource(`resource is invalid: user ${username} is disabled`);

export const wrongPassword = (username: string): InvalidResource =>
  new InvalidResource(`resource is invalid: wrong password for user ${username}`);
