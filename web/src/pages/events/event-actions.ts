import { at, CORE, get, request, write } from '../../api/client.ts';
import { username } from '../../api/session.ts';
import { notify } from '../../state/notices.ts';
import { deleteLater, forEach, undoable } from '../../state/undo.ts';
import type { EventRow } from './event-row.ts';

type Address = Pick<EventRow, 'namespace' | 'entity' | 'check'>;

const eventPath = ({ namespace, entity, check }: Address): string =>
  `${CORE}${at`/namespaces/${namespace}/events/${entity}/${check}`}`;

const count = (number: number): string => `${number} ${number === 1 ? 'event' : 'events'}`;

interface Outcome {
  /** The rows can already be shown as they will be. */
  hidden: (addresses: readonly Address[], isHidden: boolean) => void;
  done: () => void;
}

export function deleteEvents(events: readonly Address[], { hidden, done }: Outcome): void {
  hidden(events, true);
  const shown = (): void => hidden(events, false);
  deleteLater(events.map(eventPath), {
    text: `Deleted ${count(events.length)}`,
    undone: shown,
    done: () => {
      shown();
      done();
    },
  });
}

/** Sends a passing result for each event, as its last one with another status. */
export function resolveEvents(events: readonly Address[], { hidden, done }: Outcome): void {
  hidden(events, true);
  const act = (): void => {
    void forEach(events, resolve).then(() => {
      hidden(events, false);
      done();
    });
  };
  undoable(`Resolved ${count(events.length)}`, act, () => hidden(events, false));
}

async function resolve(address: Address): Promise<void> {
  const event = await get<{ check: object }>(eventPath(address));
  const now = Math.floor(Date.now() / 1_000);
  const check = { ...event.check, status: 0, output: `Resolved by ${username()}`, executed: now, issued: now };
  await request('PUT', eventPath(address), {
    body: { ...event, timestamp: now, check, id: undefined },
    keepalive: true,
  });
}

/** Runs the checks of events again, on their entities. */
export async function runAgain(events: readonly Address[]): Promise<void> {
  const runs = events.filter(({ check }) => check !== 'keepalive');
  const done = await forEach(runs, async ({ namespace, entity, check }) => {
    await write('POST', `${CORE}${at`/namespaces/${namespace}/checks/${check}/execute`}`, {
      check,
      subscriptions: [`entity:${entity}`],
      creator: username(),
      reason: 'run again from the dashboard',
    });
  });
  if (done > 0) notify(`Requested ${done} check ${done === 1 ? 'run' : 'runs'}`);
  else if (runs.length === 0) notify('Keepalives are sent by agents and cannot be run');
}
