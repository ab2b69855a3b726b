import { InvalidResource } from '../../resources/errors.ts';

export type Body = Readonly<Record<string, unknown>>;

/** No name is longer, so that it can be part of a key. */
export const MAX_NAME_CHARACTERS = 600;
const MAX_INTEGER = 2 ** 31 - 1;

/** Names of clients and checks. */
export const NAME = /^[\w.-]+$/;
/** The same with those that only the second generation has. */
export const STORED_NAME = /^[\w.:-]+$/;
/** Ids of silences: a subscription and a check. */
export const SILENCE_ID = /^[\w.:*-]+$/;
const MAX_ID_CHARACTERS = 2 * MAX_NAME_CHARACTERS + 1;

/** Whether a record may have this name. Others are not looked up, because they may be longer than a key. */
export const isStoredName = (name: string): boolean => name.length <= MAX_NAME_CHARACTERS && STORED_NAME.test(name);

/** Whether a silence may have this id. */
export const isSilenceId = (id: string): boolean => id.length <= MAX_ID_CHARACTERS && SILENCE_ID.test(id);

/** Reads a member; undefined when it is absent or `null`. */
export function optional<T>(body: Body, member: string, read: (value: unknown) => T): T | undefined {
  const value = body[member];
  return value === undefined || value === null ? undefined : read(value);
}

/** @throws InvalidResource */
export function text(member: string, value: unknown): string {
  if (typeof value !== 'string') throw new InvalidResource(`${member} must be a string`);
  return value;
}

/** @throws InvalidResource */
export function matching(member: string, value: unknown, rule: RegExp): string {
  const name = text(member, value);
  if (name.length > MAX_NAME_CHARACTERS) {
    throw new InvalidResource(`${member} must have at most ${MAX_NAME_CHARACTERS} characters`);
  }
  if (rule.test(name)) return name;
  throw new InvalidResource(`${member} must consist of letters, digits, "_", "." and "-"`);
}

/** @throws InvalidResource */
export const texts =
  (member: string) =>
  (value: unknown): string[] => {
    if (!Array.isArray(value)) throw new InvalidResource(`${member} must be a list of strings`);
    return value.map((item) => text(member, item));
  };

/** @throws InvalidResource */
export const truth =
  (member: string) =>
  (value: unknown): boolean => {
    if (typeof value !== 'boolean') throw new InvalidResource(`${member} must be true or false`);
    return value;
  };

/** @throws InvalidResource */
export const integer =
  (member: string) =>
  (value: unknown): number => {
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_INTEGER) return value;
    throw new InvalidResource(`${member} must be a whole number of 32 bits`);
  };

/** An integer that may be a time. @throws InvalidResource */
export const seconds =
  (member: string) =>
  (value: unknown): number => {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
    throw new InvalidResource(`${member} must be a whole number of seconds`);
  };

/** @throws InvalidResource */
export const object =
  (member: string) =>
  (value: unknown): Body => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Body;
    throw new InvalidResource(`${member} must be an object`);
  };
