/**
 * Restores the lists that the client sent as `[]` and that `shown` has as `null`, for responses that echo a request. The
 * store does not distinguish the two. Members that are left out when they are empty stay left out.
 */
export const keepSentEmptyLists = (shown: object, sent: object): object => restored(shown, sent) as object;

function restored(shown: unknown, sent: unknown): unknown {
  if (shown === null) return isEmptyList(sent) ? [] : null;
  if (!isContainer(shown) || !isContainer(sent)) return shown;
  if (!Array.isArray(shown)) return Array.isArray(sent) ? shown : restoredMembers(shown, sent);
  if (!Array.isArray(sent) || shown.length !== sent.length) return shown;
  return shown.map((item, index) => restored(item, sent[index]));
}

/** Returns `shown` itself when nothing changes. */
function restoredMembers(shown: object, sent: object): object {
  const members = new Map(Object.entries(sent));
  let isChanged = false;
  const entries = Object.entries(shown).map(([name, member]): [string, unknown] => {
    const kept = members.has(name) ? restored(member, members.get(name)) : member;
    isChanged ||= kept !== member;
    return [name, kept];
  });
  return isChanged ? Object.fromEntries(entries) : shown;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
