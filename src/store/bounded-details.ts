/** Of one text; agents and people send longer ones. */
const MAX_TEXT_CHARACTERS = 1_000;
/** Of one list. */
const MAX_ITEMS = 100;

/** As the ledger keeps it, which forgets nothing: texts and lists that are too long are cut, and end with a sign of it. */
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

/** Their names are ours. */
export function boundedMembers(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, boundedDetails(member)]));
}
