import { at, MON, write } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { Ago } from '../../components/time.tsx';
import { notify } from '../../state/notices.ts';
import type { Explanation, Notification } from './explanation.ts';
import { Outcome } from './outcome.tsx';

/** Runs the handler of a dead letter again. */
export async function replay(namespace: string, { id, handler }: Notification): Promise<void> {
  try {
    await write('POST', `${MON}${at`/namespaces/${namespace}/notifications/${id}/replay`}`);
    notify(`${handler} runs again`);
  } catch (error) {
    notify(messageOf(error), { tone: 'error' });
  }
}

interface HandledProps {
  namespace: string;
  explanation: Explanation;
  onReplayed: () => void;
}

/** Who was notified, who was not, and why. */
export function Handled({ namespace, explanation, onReplayed }: HandledProps) {
  const { items, more } = explanation.handlers;
  return (
    <section class="card" aria-labelledby="handled">
      <header>
        <h2 id="handled">Who was notified</h2>
      </header>
      {items.length === 0 ? (
        <p class="muted">No handler has received an event of this check.</p>
      ) : (
        <ul class="plain-list outcomes">
          {items.map(({ notification }) => (
            <li key={notification.id} data-outcome={notification.outcome}>
              <Outcome outcome={notification.outcome} />
              <strong>{notification.handler || 'pipeline'}</strong>
              <span class="outcome-reason" title={notification.reason}>
                {notification.reason}
                {notification.count > 1 && ` (${notification.count} events)`}
              </span>
              {notification.dead_letter && (
                <button type="button" onClick={() => void replay(namespace, notification).then(onReplayed)}>
                  Replay
                </button>
              )}
              <span class="muted nowrap">
                <Ago at={notification.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {more && <p class="muted">Older outcomes are under notifications.</p>}
      {explanation.silences.items.map(({ name, creator, reason, expire_at: end, ended }) => (
        <p key={name} class="silence-line">
          Silenced by <code>{name}</code>
          {creator === null ? '' : `, made by ${creator}`}
          {reason === null ? '' : `: ${reason}`}{' '}
          <span class="muted">
            {ended !== null ? <Ago at={ended.at} prefix="ended " /> : end ? <Ago at={end} prefix="ends " /> : 'no end'}
          </span>
        </p>
      ))}
    </section>
  );
}
