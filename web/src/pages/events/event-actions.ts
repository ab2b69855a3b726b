import { at, CORE, get, request, write } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { username } from '../../api/session.ts';
import { notify } from '../../state/notices.ts';
import type { EventRow } from './event-row.ts';

/** A write waits this long, so that it can be undone. */
const UNDO_MS = 5_000;
/** Writes under way at once. */
const AT_ONCE = 6;

type Address = Pick<EventRow, 'namespace' | 'entity' | 'check'>;

const eventPath = ({ namespace, entity, check }: Address): string =>
  `${CORE}${at`/namespaces/${namespace}/events/${entity}/${check}`}`;

const count = (number: number): string => `${number} ${number === 1 ? 'event' : 'events'}`;

/** Does something with each item, a few at a time, and says what failed. Returns how many succeeded. */
export async function forEach<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<number> {
  const failures: string[] = [];
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await act(item);
      } catch (error) {
        failures.push(messageOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [first] = failures;
  if (first !== undefined) notify(`${failures.length} of ${items.length} failed: ${first}`, { tone: 'error' });
  return items.length - failures.length;
}

/** Runs `act` after some seconds, or when the page is left, unless the user undoes it. */
function undoable(text: string, act: () => void, undone: () => void): void {
  let isOver = false;
  const finish = (run: () => void): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    removeEventListener('pagehide', leave);
    run();
  };
  const leave = (): void => finish(act);
  const timer = setTimeout(leave, UNDO_MS);
  addEventListener('pagehide', leave);
  notify(text, { forMs: UNDO_MS, action: { label: 'Undo', run: () => finish(undone) } });
}

interface Outcome {
  /** The rows may be shown as they will be. */
  hidden: (addresses: readonly Address[], isHidden: boolean) => void;
  done: () => void;
}

export function deleteEvents(events: readonly Address[], { hidden, done }: Outcome): void {
  hidden(events, true);
  const act = (): void => {
    void forEach(events, async (event) => {
      await request('DELETE', eventPath(event), { keepalive: true });
    }).then(() => {
      hidden(events, false);
      done();
    });
  };
  undoable(`Deleted ${count(events.length)}`, act, () => hidden(events, false));
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
