import { printable } from '../formats/printable.ts';
import type { Notification } from '../store/records/records.ts';
import type { Explanation, HandlerOutcome, SilenceAt } from './explanation.ts';
import { createdBy } from './silence-sentences.ts';
import { counted, named, time } from './words.ts';

/** Sentences about the last of each kind of outcome of each handler. */
export function handlerSentences({ atMs, asked, handlers, silences, state }: Explanation): string[] {
  if (state.kind !== 'recorded' && handlers.items.length === 0) return [];
  const last = new Map<string, HandlerOutcome>();
  for (const outcome of handlers.items) {
    const key = `${subjectOf(outcome.notification)} ${outcome.notification.outcome}`;
    if (!last.has(key)) last.set(key, outcome);
  }
  if (last.size === 0) return [withoutOutcome(asked)];
  const sentences = [...last.values()].map((outcome) => sentenceOf(outcome, silences.items, atMs));
  return handlers.hasMore ? [...sentences, 'Earlier outcomes are not shown.'] : sentences;
}

function withoutOutcome(asked: Explanation['asked']): string {
  if (asked === undefined) return 'No outcome of a handler was recorded by that time.';
  const { handler, exists } = asked;
  const absent = exists ? '' : '; the namespace has no handler of this name';
  return `No outcome of the handler ${named(handler)} was recorded by that time${absent}.`;
}

/** The further handlers that a sentence names; the data has all. */
const MAX_NAMED_OTHERS = 10;

/** The handlers that were left out with this one. */
function othersOf({ others = [] }: Notification): string {
  if (others.length === 0) return '';
  const names = others.slice(0, MAX_NAMED_OTHERS).map(named).join(', ');
  const more = others.length > MAX_NAMED_OTHERS ? ', …' : '';
  return ` and ${counted(others.length, 'other')} (${names}${more})`;
}

function subjectOf({ handler, pipeline, workflow, nth }: Notification): string {
  const number = nth === undefined ? '' : ` (number ${nth} of this name)`;
  const of =
    pipeline === undefined
      ? ''
      : ` of the workflow ${named(workflow ?? '')}${number} of the pipeline ${named(pipeline)}`;
  return `Handler ${named(handler)}${of}`;
}

function sentenceOf(
  { notification, isLater }: HandlerOutcome,
  silences: readonly SilenceAt[],
  momentMs: number,
): string {
  const { outcome, decidedAtMs, atMs } = notification;
  const subject = subjectOf(notification);
  const later = isLater ? `${subject} was waiting for its run, decided at ${time(decidedAtMs)}. Later: ` : '';
  const reason = detailOf(notification);
  if (outcome === 'handled') return `${later}${subject} ran at ${time(atMs)}${attempts(notification)}.`;
  if (outcome === 'failed') return `${later}${subject} failed at ${time(atMs)}${attempts(notification)}: ${reason}.`;
  if (outcome === 'timed-out') {
    return `${later}${subject} was ended at ${time(atMs)}${attempts(notification)}, because it took too long: ${reason}.`;
  }
  const since = sinceOf(notification, momentMs);
  const { handler, pipeline = '' } = notification;
  if (handler === '')
    return `The pipeline ${named(pipeline)}${othersOf(notification)} led to no handler ${since}: ${reason}.`;
  const creators = outcome === 'denied' ? creatorsIn(notification.reason, silences) : '';
  const others = othersOf(notification);
  return `${later}${subject}${others} ${others === '' ? 'was' : 'were'} not run ${since}: ${reason}${creators}.`;
}

/** When the handler was not run: once, or for several events in a row, some of which may have come after the moment. */
function sinceOf({ count = 1, decidedAtMs, atMs }: Notification, momentMs: number): string {
  if (count === 1) return `at ${time(atMs)}`;
  return atMs > momentMs
    ? `from ${time(decidedAtMs)} on`
    : `for ${counted(count, 'event')} from ${time(decidedAtMs)} to ${time(atMs)}`;
}

const attempts = ({ attempts: count = 1 }: Notification): string =>
  count === 1 ? '' : ` after ${counted(count, 'attempt')}`;

/** The reason, or the first line of the output. */
function detailOf({ reason, status }: Notification): string {
  const [first = ''] = reason.trim().split('\n');
  const text = printable(first.replace(/\.$/, ''));
  const exit = status === undefined || status === 0 ? '' : `exit status ${status}`;
  return [exit, text].filter((part) => part !== '').join(', ') || 'without a reason';
}

/** Who created the silences that the reason names. */
function creatorsIn(reason: string, silences: readonly SilenceAt[]): string {
  if (!reason.startsWith('silenced by ')) return '';
  const names = new Set(reason.slice('silenced by '.length).split(', '));
  const [first, ...others] = silences.filter(({ name }) => names.has(name));
  if (first === undefined) return '';
  return others.length === 0 && names.size === 1 ? createdBy(first) : '';
}
