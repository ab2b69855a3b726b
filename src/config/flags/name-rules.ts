import { InvalidResource } from '../../resources/errors.ts';
import { assertName } from '../../resources/names.ts';

/** The rule that a name breaks, as a message that begins with `subject`; undefined for a valid name. */
export function nameError(name: string, subject: string): string | undefined {
  try {
    assertName(name, subject);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
}

/** Refuses a value of the flag that cannot be the name of a handler. An empty value means no handler. */
export const handlerNameRule = <Name extends string>(flag: Name) => ({
  flags: [flag] as const,
  broken: ({ [flag]: name }: Readonly<Record<Name, string>>): string | undefined =>
    name === '' ? undefined : nameError(name, flag),
});
