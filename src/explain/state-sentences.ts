import { printable } from '../formats/printable.ts';
import type { Explanation, RecordedChange, RecordedState, StateAt } from './explanation.ts';
import { causeOf, counted, named, seconds, statusName, time } from './words.ts';

const DELETIONS: Readonly<Record<string, string>> = {
  'event.deleted': 'The event was deleted',
  'entity.deleted': 'The event was deleted with its entity',
  'entity.deregistered': 'The event was deleted when its entity was deregistered',
};

/** The state at the moment, and the changes that made it. */
export function stateSentences(explanation: Explanation): string[] {
  const { state } = explanation;
  if (state.kind !== 'recorded') return [endSentence(explanation, state)];
  return [
    stateSentence(explanation, state),
    ...cutSentences(state),
    ...problemSentences(state),
    ...beginSentences(state),
    ...outputSentences(state.change),
    ...nextSentences(state),
    ...dueSentences(explanation),
  ];
}

const subject = ({ entity, check }: Explanation): string => `the check ${named(check)} of ${named(entity)}`;

function endSentence(explanation: Explanation, state: Exclude<StateAt, RecordedState>): string {
  const what = subject(explanation);
  const at = `At ${time(explanation.atMs)}`;
  if (!('change' in state)) {
    const missing = state.kind === 'absent' ? `there was no event of ${what}` : `the state of ${what} is not on record`;
    return `${at} ${missing}; the record begins at ${time(state.beginsAtMs)}.`;
  }
  const { change } = state;
  const how = DELETIONS[change.event] ?? `The event ended with \`${change.event}\``;
  const again = state.nextAtMs === undefined ? '' : ` It was stored again at ${time(state.nextAtMs)}.`;
  return `There is no event of ${what}. ${how} at ${time(change.atMs)}, caused by ${causeOf(change.cause)}.${again}`;
}

function stateSentence(explanation: Explanation, state: RecordedState): string {
  const { atMs, isPast } = explanation;
  const { status, begin } = state;
  const what = subject(explanation);
  const since = `${statusName(status)} since ${time(begin.atMs)}, for ${resultsIn(state)}`;
  return isPast ? `At ${time(atMs)} ${what} was ${since}.` : `The${what.slice('the'.length)} has been ${since}.`;
}

function resultsIn({ occurrences: { least, most } }: RecordedState): string {
  if (most === least) return counted(least, 'result');
  return most === undefined ? `at least ${counted(least, 'result')}` : `${least} to ${counted(most, 'result')}`;
}

function cutSentences({ isCut }: RecordedState): string[] {
  return isCut ? ['It changed more often than is read for an explanation, so that it may have begun earlier.'] : [];
}

function problemSentences({ problem, begin, state }: RecordedState): string[] {
  const flapping = state === 'flapping' ? ['The check is flapping: its status changes often.'] : [];
  if (problem === undefined || problem === begin) return flapping;
  return [...flapping, `The problem began at ${time(problem.atMs)} as ${statusName(problem.status ?? 0)}.`];
}

/** Why the status began. */
function beginSentences({ begin }: RecordedState): string[] {
  const { previousStatus, previousOccurrences, isFirst } = begin;
  const before =
    isFirst || previousStatus === undefined
      ? []
      : [`Before that it was ${statusName(previousStatus)}${afterResults(previousOccurrences)}.`];
  return [...reasonSentences(begin), ...before];
}

const afterResults = (count: number | undefined): string =>
  count === undefined ? '' : `, for ${counted(count, 'result')}`;

function reasonSentences({ overdue, cause, atMs }: RecordedChange): string[] {
  if (overdue === undefined) return [`The change at ${time(atMs)} was caused by ${causeOf(cause)}.`];
  const { sinceMs, limitMs, blindMs } = overdue;
  const blind =
    blindMs === undefined ? [] : [`The alert came later, because the backend was blind for ${seconds(blindMs)}.`];
  return [
    `Nothing was received within ${seconds(limitMs)} of ${time(sinceMs)}, so that the backend alerted.`,
    ...blind,
  ];
}

const outputSentences = ({ output }: RecordedChange): string[] =>
  output.trim() === '' ? [] : [`Its output began with: ${printable(output.replace(/[\r\n]+$/, ''))}`];

function nextSentences({ next }: RecordedState): string[] {
  if (next === undefined) return [];
  if (next.state === undefined) return [`The event was deleted at ${time(next.atMs)}.`];
  const isOther = next.status !== next.previousStatus;
  const change = isOther ? `it became ${statusName(next.status ?? 0)}` : 'its state or its silences changed';
  return [`The next change was at ${time(next.atMs)}: ${change}.`];
}

function dueSentences({ due, atMs }: Explanation): string[] {
  if (due === undefined) return [];
  const is = due.sinceMs + due.limitMs <= atMs ? 'was' : 'is';
  return [`The next ${due.what} ${is} due within ${seconds(due.limitMs)} of the last one at ${time(due.sinceMs)}.`];
}
