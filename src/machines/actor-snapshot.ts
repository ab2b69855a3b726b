import type { StateValue } from 'xstate';

/** The stored part of an actor: its state and its context, as plain data. */
export interface ActorSnapshot {
  /** The name of its state, or nested: `{ registered: 'monitored' }`. */
  value: StateValue;
  context: object;
  /** The version of the machine that wrote it. A snapshot of another version is rebuilt from domain data, never restored. */
  version: string;
}

/**
 * Returns the name of the top-level state, which the ledger, `GET /api/mon/v1/actors`, metrics and connections use. A change
 * between nested states makes no ledger entry.
 */
export function stateName(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [name] = Object.keys(value);
  if (name === undefined) throw new Error('a state value must name a state');
  return name;
}
