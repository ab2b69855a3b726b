type Members = Record<string, unknown>;

/**
 * Restores the lists that the client sent as `[]` and that `shown` has as `null`, for responses that echo a request. The
 * store does not distinguish the two. Members that are left out when they are empty stay left out.
 */
export const keepSentEmptyLists = (shown: object, sent: object): object => restored(shown, sent) as object;

function restored(shown: unknown, sent: unknown): unknown {
  if (shown === null) return isEmptyList(sent) ? [] : null;
  if (!isContainer(shown) || !isContainer(sent)) return shown;
  if (!Array.isArray(shown)) return Array.isArray(sent) ? shown : restoredMembers(shown, sent);
  return Array.isArray(sent) && shown.length === sent.length ? restoredItems(shown, sent) : shown;
}

/** Returns `shown` itself when nothing changes. */
function restoredItems(shown: unknown[], sent: unknown[]): unknown[] {
  const items = shown.map((item, index) => restored(item, sent[index]));
  return items.some((item, index) => item !== shown[index]) ? items : shown;
}

/** Returns `shown` itself when nothing changes, which is usual. */
function restoredMembers(shown: object, sent: object): object {
  let changes: Map<string, unknown> | undefined;
  // Most members of what is shown were not sent.
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(shown, name)) continue;
    const member = (shown as Members)[name];
    const kept = restored(member, (sent as Members)[name]);
    if (kept !== member) (changes ??= new Map()).set(name, kept);
  }
  if (changes === undefined) return shown;
  return Object.fromEntries([...Object.entries(shown), ...changes]);
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
