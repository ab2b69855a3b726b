import { REDACTED } from '../../resources/redaction.ts';

/** Shorter values are not replaced, because they are part of many texts. */
const MIN_REPLACED_CHARACTERS = 4;

/**
 * Returns the beginning of what a command wrote, for logs, records and answers: without the values of its secrets. `secrets` are the
 * entries `NAME=value` that the command got.
 */
export function shownOutput(output: string, secrets: readonly string[], maxCharacters: number): string {
  const values = secrets
    .map((entry) => entry.slice(entry.indexOf('=') + 1).trim())
    .filter(({ length }) => length >= MIN_REPLACED_CHARACTERS)
    // A value may be part of another one.
    .sort((one, other) => other.length - one.length);
  // A value that begins before the end is replaced as a whole.
  let shown = output.slice(0, maxCharacters + (values[0]?.length ?? 0));
  for (const value of values) shown = shown.replaceAll(value, () => REDACTED);
  return shown.slice(0, maxCharacters);
}
