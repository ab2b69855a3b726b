import { type Static, Type } from 'typebox';
import { assertUsername } from './names.ts';
import { flag, listOrNull, optional, text, textList, validator } from './schema.ts';

/** As it is stored; the API never shows the hash. */
export const UserSchema = Type.Object(
  {
    username: optional(text()),
    password_hash: optional(text('bcrypt')),
    groups: optional(textList()),
    disabled: optional(flag()),
  },
  { $id: 'core/v2.User' },
);

export type User = ReturnType<typeof userWithDefaults>;

export function userWithDefaults(input: Static<typeof UserSchema>) {
  return {
    username: input.username ?? '',
    password_hash: input.password_hash ?? '',
    groups: listOrNull(input.groups),
    disabled: input.disabled ?? false,
  };
}

const validateShape = validator(UserSchema);

/** @throws InvalidResource */
export function parseUser(value: unknown): User {
  const user = userWithDefaults(validateShape(value));
  assertUsername(user.username);
  return user;
}
