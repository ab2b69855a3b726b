/** Why a change is refused, or a handler skipped, while the outbox is full. */
export const OUTBOX_FULL = 'too many events wait in the outbox for their handlers';
