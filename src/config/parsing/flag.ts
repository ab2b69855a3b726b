import type { Kind } from './flag-kinds.ts';

export interface Flag<T> {
  kind: Kind<T>;
  fallback: T;
  about: string;
  short?: string;
  /** Whether the value may also be given as an argument without the name of the flag. */
  isOperand?: boolean;
  /** The heading in the help under which the flag is listed. */
  group?: string;
  /** Other environment variables, without the prefix of the program. They apply when the regular one is unset. */
  otherVariables?: readonly string[];
  /** A name of earlier versions, accepted with a warning when the regular one is not given. */
  formerName?: string;
  /** Whether messages hide the value, even when it is invalid. */
  secret?: boolean;
  /** Why the flag of the reference has no effect here. It is accepted with a warning, and its value is still validated. */
  withoutEffect?: string;
}

export type FlagTable = Record<string, Flag<unknown>> & { 'config-file': Flag<string> };
export type FlagValues<F> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never };

/** Lists the flags under a heading of the help. */
export const grouped = <F extends Record<string, Flag<unknown>>>(group: string, flags: F): F =>
  Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])) as F;

/** Accepts the flags of the reference, which have no effect here for this reason. */
export const withoutEffect = <F extends Record<string, Kind<unknown>>>(
  reason: string,
  kinds: F,
): { [Name in keyof F]: F[Name] extends Kind<infer T> ? Flag<T | undefined> : never } =>
  Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      { kind, fallback: undefined, about: reason, withoutEffect: reason },
    ]),
  ) as never;
