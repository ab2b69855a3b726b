/** Where the rings of a round-robin check stand: one for each of its subscriptions that has members. */
export interface RingTurns {
  /** A change of what the check is scheduled by begins anew. */
  schedule: string;
  rings: Record<string, RingTurn>;
}

export interface RingTurn {
  /** How many turns a tick takes; with another number the ring begins anew. */
  items: number;
  /** Whose turn is next; who is gone gives way to the name after it. */
  next: string;
}

/** The members whose turn it is, and whose turn is next. Members repeat where they are fewer than `items`. */
export function takeTurns(
  members: readonly string[],
  turn: RingTurn | undefined,
  items: number,
): { taken: string[]; turn: RingTurn | undefined } {
  if (members.length === 0 || items === 0) return { taken: [], turn: members.length === 0 ? undefined : turn };
  const inOrder = members.toSorted();
  const from = turn?.items === items ? turn.next : '';
  const start = Math.max(
    0,
    inOrder.findIndex((name) => name >= from),
  );
  const memberAt = (index: number): string => inOrder[(start + index) % inOrder.length] ?? '';
  const taken = Array.from({ length: items }, (_, index) => memberAt(index));
  return { taken, turn: { items, next: memberAt(items) } };
}
