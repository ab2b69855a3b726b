import { printable } from '../formats/printable.ts';
import type { Explanation, SilenceAt } from './explanation.ts';
import { causeOf, named, time } from './words.ts';

const ENDS: Readonly<Record<string, string>> = {
  'silence.deleted': 'was deleted',
  'expiry.reached': 'expired',
  'check.resolved': 'ended with the resolution',
  'entity.deleted': 'ended with its entity',
  'entity.deregistered': 'ended with its entity',
};

/** The silences that applied to the last change. */
export function silenceSentences({ silences, state }: Explanation): string[] {
  if (state.kind !== 'recorded' || silences.items.length === 0) return [];
  const more = silences.hasMore ? ['Further silences applied to it.'] : [];
  return [...silences.items.flatMap(sentencesOf), ...more];
}

function sentencesOf(silence: SilenceAt): string[] {
  const { name, ended } = silence;
  const first = `The silence ${named(name)} applied to it${createdBy(silence)}${times(silence)}.`;
  if (ended === undefined) return [first];
  const how = ENDS[ended.event] ?? 'ended';
  const who = 'user' in ended.cause ? ` by ${causeOf(ended.cause)}` : '';
  return [first, `That silence ${how} at ${time(ended.atMs)}${who}, before the next result.`];
}

/** Who created a silence, and why, after a comma; empty when neither is on record. */
export function createdBy({ creator, reason }: Pick<SilenceAt, 'creator' | 'reason'>): string {
  const why = reason === undefined ? '' : ` (${printable(reason)})`;
  return creator === undefined ? why : `, created by ${named(creator)}${why}`;
}

function times({ beginS, expireAtS }: SilenceAt): string {
  if (beginS === undefined) return '';
  const end = expireAtS === undefined || expireAtS === 0 ? ', without an end' : ` until ${time(expireAtS * 1_000)}`;
  return `, from ${time(beginS * 1_000)}${end}`;
}
