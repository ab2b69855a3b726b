/** The positions in the rings of a round-robin check, one for each of its subscriptions that has members. */
export interface RingPositions {
  /** The interval or cron expression of the check. A new one resets the positions. */
  schedule: string;
  rings: Record<string, RingPosition>;
}

export interface RingPosition {
  /** The number of members that each tick selects. Another number resets the position. */
  items: number;
  /** The name of the next member. When that member has left, the name after it follows. */
  next: string;
}

/** Selects the next `items` members and advances the position. Members repeat when the ring has fewer than `items`. */
export function takeMembers(
  members: readonly string[],
  position: RingPosition | undefined,
  items: number,
): { taken: string[]; position: RingPosition | undefined } {
  if (members.length === 0 || items === 0) return { taken: [], position: members.length === 0 ? undefined : position };
  const inOrder = members.toSorted();
  const from = position?.items === items ? position.next : '';
  const start = Math.max(
    0,
    inOrder.findIndex((name) => name >= from),
  );
  const memberAt = (index: number): string => inOrder[(start + index) % inOrder.length] ?? '';
  const taken = Array.from({ length: items }, (_, index) => memberAt(index));
  return { taken, position: { items, next: memberAt(items) } };
}
