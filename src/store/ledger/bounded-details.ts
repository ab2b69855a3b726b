/** The maximum length of one text. */
const MAX_TEXT_CHARACTERS = 1_000;
/** The maximum length of one list. */
const MAX_ITEMS = 100;
/** The maximum length of all texts of one entry's details together, with a few characters for each other value. */
const MAX_DETAILS_CHARACTERS = 256 * 1024;
/** The characters that a number, a list or a member counts as, besides its texts. */
const CHARACTERS_OF_VALUE = 8;
const CUT = '...';

/** The characters that are left for one value and everything in it. */
interface Budget {
  characters: number;
}

/** Returns the value with texts and lists shortened to their limits and marked with `...`, because ledger entries are never deleted. */
export function boundedDetails(value: unknown): unknown {
  return bounded(value, { characters: MAX_DETAILS_CHARACTERS });
}

/** Shortens the values of the members. The names come from this program and stay whole. */
export function boundedMembers(object: object): Record<string, unknown> {
  return membersWithin(object, { characters: MAX_DETAILS_CHARACTERS });
}

function bounded(value: unknown, budget: Budget): unknown {
  budget.characters -= CHARACTERS_OF_VALUE;
  if (typeof value === 'string') return boundedText(value, budget);
  if (Array.isArray(value)) return boundedList(value, budget);
  return typeof value === 'object' && value !== null ? membersWithin(value, budget) : value;
}

function boundedText(text: string, budget: Budget): string {
  const limit = Math.max(0, Math.min(MAX_TEXT_CHARACTERS, budget.characters));
  budget.characters -= Math.min(text.length, limit);
  return text.length > limit ? `${text.slice(0, limit)}${CUT}` : text;
}

function boundedList(list: readonly unknown[], budget: Budget): unknown[] {
  const kept: unknown[] = [];
  for (const item of list) {
    if (kept.length >= MAX_ITEMS || budget.characters <= 0) break;
    kept.push(bounded(item, budget));
  }
  const left = list.length - kept.length;
  return left === 0 ? kept : [...kept, `... and ${left} more`];
}

function membersWithin(object: object, budget: Budget): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, bounded(member, budget)]));
}
