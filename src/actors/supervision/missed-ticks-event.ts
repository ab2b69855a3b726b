import type { OwnResult } from './own-event.ts';

/** Checks that the output names. */
const MAX_NAMED = 20;

/** The result of the reserved check that names the checks with a tick that had no outcome; it is critical while there is one. */
export const missedTicksResult = (missed: Iterable<string>): OwnResult => {
  const checks = [...missed].toSorted();
  return { check: 'missed-ticks', status: checks.length === 0 ? 0 : 2, output: outputOf(checks) };
};

function outputOf(missed: readonly string[]): string {
  if (missed.length === 0) return 'every tick has an outcome';
  const more = missed.length > MAX_NAMED ? ` and ${missed.length - MAX_NAMED} more` : '';
  return `ticks without an outcome: ${missed.slice(0, MAX_NAMED).join(', ')}${more}`;
}
