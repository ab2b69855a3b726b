import type { OwnResult } from './own-event.ts';

/** The result of the reserved check that lists the quarantined actors; it is critical while there is one. */
export const quarantineResult = (quarantined: readonly string[]): OwnResult => ({
  check: 'actor-quarantine',
  status: quarantined.length === 0 ? 0 : 2,
  output:
    quarantined.length === 0 ? 'no actor is quarantined' : `quarantined after failures: ${quarantined.join(', ')}`,
});
