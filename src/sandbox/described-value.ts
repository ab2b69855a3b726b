/** The limit of a value in the reason of a denial, in characters. */
export const MAX_VALUE_CHARACTERS = 100;

/** Describes the value of an expression; the prelude of the sandbox does the same in the engine. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    const text = JSON.stringify(value.slice(0, MAX_VALUE_CHARACTERS));
    return value.length > MAX_VALUE_CHARACTERS ? `${text}…` : text;
  }
  if (typeof value !== 'object' || value === null) return String(value).slice(0, MAX_VALUE_CHARACTERS);
  return Array.isArray(value) ? 'an array' : 'an object';
}
