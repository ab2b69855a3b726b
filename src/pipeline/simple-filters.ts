import type { Event } from '../resources/event.ts';
import { redactEvent } from '../resources/redaction.ts';
import type { DecideSimply } from '../rules/run-plan.ts';
import { decideSimply } from '../sandbox/decide-simply.ts';
import { reasonOf } from './filters.ts';

/** The filters that are decided at once for one event. Beyond this number they are evaluated in a thread. */
const MAX_DECIDED = 100;

/** Returns a function that decides filters without assets whose expressions are simple. The event is built at its first use. */
export function simpleFilters(event: () => Event, nowMs: number): DecideSimply {
  let redacted: Event | undefined;
  let decided = 0;
  return ({ action, expressions, runtime_assets: assets }, name) => {
    if (assets !== null || (action !== 'allow' && action !== 'deny')) return undefined;
    if (decided === MAX_DECIDED) return undefined;
    decided += 1;
    redacted ??= redactEvent(event());
    const filter = { name, action, expressions: expressions ?? [], libraries: [] } as const;
    const result = decideSimply([filter], redacted, nowMs);
    if (result === undefined) return undefined;
    return result.passes ? result : { passes: false, reason: reasonOf(result) };
  };
}
