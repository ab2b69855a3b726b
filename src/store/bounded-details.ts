/** The limit of one text; agents and users send longer ones. */
const MAX_TEXT_CHARACTERS = 1_000;
/** The limit of one list. */
const MAX_ITEMS = 100;

/** Bounds a value for the ledger, which is never shortened later. Texts and lists above the limit are cut and end with a mark. */
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

/** The names of members are ours and are not cut. */
export function boundedMembers(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, boundedDetails(member)]));
}
