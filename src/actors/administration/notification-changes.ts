import { Conflict, NotFound } from '../../resources/errors.ts';
import { deadLetterKey, eventKey, notificationAddress } from '../../store/encoding/keyspace.ts';
import { ifIntact } from '../../store/encoding/sealed.ts';
import { jsonBytes } from '../../wire/json-parts.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { addToOutbox } from '../events/add-to-outbox.ts';

/** The actor of the ledger entries about notifications. */
const NOTIFICATION = 'notification';

/** Puts a dead letter back into the outbox, with the same id. Its notification stays on record. @throws NotFound, Conflict */
export function replayNotification(ctx: DecisionContext, namespace: string, id: string, user: string): void {
  const logKey = ctx.get('notificationsById', id);
  const notification = logKey?.startsWith(`${namespace}/`) === true ? ctx.get('notificationLog', logKey) : undefined;
  if (logKey === undefined || notification === undefined) throw new NotFound();
  const { number, entity, check } = notificationAddress(logKey);
  const letterKey = deadLetterKey(number, id);
  const letter = ifIntact(() => ctx.get('deadLetters', letterKey));
  if (letter === undefined) {
    const isDamaged = notification.isDeadLetter === true;
    throw new Conflict(isDamaged ? 'the event of the dead letter is damaged' : 'the notification is not a dead letter');
  }
  addToOutbox(ctx, letter, letter.eventBytes ?? jsonBytes(letter.event));
  ctx.delete('deadLetters', letterKey);
  ctx.put('notificationLog', logKey, {
    ...notification,
    isDeadLetter: undefined,
    replayedAtMs: ctx.nowMs,
    replayedBy: user,
  });
  const { handler, pipeline, workflow, outcome, reason } = notification;
  ctx.record({
    actor: NOTIFICATION,
    key: eventKey(namespace, entity, check),
    from: 'dead-letter',
    event: 'notification.replayed',
    to: 'waiting',
    details: { notification: id, handler, pipeline, workflow, outcome, reason },
  });
}
