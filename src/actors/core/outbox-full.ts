/** The reason given when a change is refused, or a handler skipped, because the outbox is full. */
export const OUTBOX_FULL = 'too many events wait in the outbox for their handlers';
