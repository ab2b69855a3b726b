/** The maximum length of one text. */
const MAX_TEXT_CHARACTERS = 1_000;
/** The maximum length of one list. */
const MAX_ITEMS = 100;

/** Returns the value with texts and lists shortened to their limits and marked with `...`, because ledger entries are never deleted. */
export function boundedDetails(value: unknown): unknown {
  if (typeof value === 'string') return boundedText(value);
  if (Array.isArray(value)) return boundedList(value);
  return typeof value === 'object' && value !== null ? boundedMembers(value) : value;
}

const boundedText = (text: string): string =>
  text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}...` : text;

function boundedList(list: readonly unknown[]): unknown[] {
  const kept = list.slice(0, MAX_ITEMS).map(boundedDetails);
  const left = list.length - kept.length;
  return left === 0 ? kept : [...kept, `... and ${left} more`];
}

/** Shortens the values of the members. The names come from this program and stay whole. */
export function boundedMembers(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, boundedDetails(member)]));
}
