import { clockTime } from '../machines/clock-time.ts';
import { namesOf } from '../machines/chart-states.ts';
import type { InspectMessage } from './messages.ts';

/** The last messages of an inspector. Each can be opened to show its content. */
export function MessageLog({ log }: { log: readonly InspectMessage[] }) {
  return (
    <section class="card">
      <header>
        <h2>Messages</h2>
        <span class="muted">the last 200, newest first</span>
      </header>
      <ol class="messages">
        {log.map((message) => (
          <li key={`${message.seq} ${message.type}`}>
            <details>
              <summary>
                <time>{clockTime(Number(message.createdAt))}</time>
                <code class="message-type">{message.type.replace('@xstate.', '')}</code>
                <strong>{subjectOf(message)}</strong>
                <span class="muted">{message.sessionId}</span>
              </summary>
              <pre class="json">{JSON.stringify(withoutDefinition(message), null, 2)}</pre>
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

const subjectOf = ({ type, event, snapshot }: InspectMessage): string =>
  type === '@xstate.event' ? (event?.type ?? '') : namesOf(snapshot?.value).join(' › ');

/** The definition is long, and the same in each message. */
const withoutDefinition = ({ definition, ...message }: InspectMessage): object =>
  definition === undefined ? message : { ...message, definition: `${definition.length} characters` };
