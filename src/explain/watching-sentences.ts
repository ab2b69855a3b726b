import { printable } from '../formats/printable.ts';
import type { ConnectionAt, Explanation, TickRun } from './explanation.ts';
import { counted, named, seconds, time } from './words.ts';

const ENDS: Readonly<Record<string, string>> = {
  'process.started': 'it was down',
  'process.resumed': 'its process was stopped',
  'readers.resumed': 'its queues were full',
  'store.recovered': 'it could not write',
};
const KEEPALIVE = 'keepalive';
/** The maximum number of reasons of ticks that are named. */
const MAX_REASONS = 5;

/** Returns sentences about the connection of the agent, the backend, and the schedule of the check at that time. */
export function watchingSentences(explanation: Explanation): string[] {
  if (explanation.state.kind !== 'recorded') return [];
  return [...connectionSentences(explanation), ...blindSentences(explanation), ...tickSentences(explanation)];
}

function connectionSentences({ entity, isProxy, isPast, watching: { connections } }: Explanation): string[] {
  const [last] = connections.items;
  if (last === undefined && isProxy) return [];
  if (last === undefined) return [`No connection of an agent ${named(entity)} is on record.`];
  const open = connections.items.find(({ closedAtMs }) => closedAtMs === undefined);
  const ended = connections.items.length - 1;
  const others = ended > 0 ? [`${counted(ended, 'other connection')} of it ended in that time.`] : [];
  return [open === undefined ? closedSentence(entity, last) : openSentence(entity, open, isPast), ...others];
}

function openSentence(entity: string, { openedAtMs, state }: ConnectionAt, isPast: boolean): string {
  const has = isPast ? 'had' : 'has';
  const silent = state === 'warning' ? ', but nothing was received from it for 45 s' : '';
  return `The agent ${named(entity)} ${has} been connected since ${time(openedAtMs)}${silent}.`;
}

const closedSentence = (entity: string, { closedAtMs = 0, closedBy = '' }: ConnectionAt): string =>
  `The agent ${named(entity)} was not connected: its connection ended at ${time(closedAtMs)} (${closedBy}).`;

function blindSentences({ watching: { blind } }: Explanation): string[] {
  const sentences = blind.items.map(
    ({ beginMs, endMs, event }) =>
      `The backend was blind for ${seconds(endMs - beginMs)} until ${time(endMs)}, because ${ENDS[event] ?? event}.`,
  );
  return blind.hasMore ? [...sentences, 'The backend was blind at further times.'] : sentences;
}

function tickSentences({ check, isProxy, watching, atMs }: Explanation): string[] {
  const { ticks, fromMs, unrecordedSinceMs } = watching;
  // A keepalive has no schedule, and events of a proxy often come from elsewhere.
  if (ticks === undefined && (isProxy || check === KEEPALIVE)) return [];
  if (ticks === undefined) return [`No tick of the schedule of ${named(check)} is on record for that time.`];
  const unrecorded =
    unrecordedSinceMs === undefined
      ? []
      : [`Ticks from ${time(unrecordedSinceMs)} on have no record yet: it is made at the next tick of the schedule.`];
  if (ticks.items.length === 0) return unrecorded;
  const countOf = (outcome: TickRun['outcome']): number =>
    ticks.items.reduce((sum, run) => sum + (run.outcome === outcome ? (run.count ?? 0) : 0), 0);
  const [ran, skipped, lost] = [countOf('ran'), countOf('skipped'), countOf('lost')];
  const total = `From ${time(fromMs)} to ${time(atMs)} the check ran at ${counted(ran, 'tick')} of its schedule`;
  const more = ticks.hasMore ? ['Further ticks are not counted.'] : [];
  return [
    `${total}, ${skipped} were skipped and ${lost} were lost.`,
    ...unrecorded,
    ...reasonSentences(ticks.items),
    ...more,
  ];
}

function reasonSentences(runs: readonly TickRun[]): string[] {
  const failed = runs.filter(({ outcome }) => outcome !== 'ran');
  return failed.slice(-MAX_REASONS).map(({ outcome, reason = 'no reason is on record', fromMs, toMs, count }) => {
    const when = fromMs === toMs ? `at ${time(fromMs)}` : `from ${time(fromMs)} to ${time(toMs)}`;
    const what = count === undefined ? 'All ticks' : counted(count, 'tick');
    const verb = count === 1 ? 'was' : 'were';
    return `${what} ${when} ${verb} ${outcome}: ${printable(reason)}.`;
  });
}
