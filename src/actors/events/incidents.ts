import { createHash, randomUUID } from 'node:crypto';
import type { CheckState } from '../../rules/check-state.ts';
import { type Incident, incidentChange, incidentTimes, isOpen } from '../../rules/incident.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The namespace of the ids of incidents that began before this backend knew them (RFC 9562, UUID version 5). */
const INCIDENTS = '5b0d9f0e-2a61-4c0e-9a5b-3b1f3d3c8f11';
const UUID_BYTES = 16;

/** The effect of a result on the state of a check. */
export interface IncidentInput {
  key: string;
  previous: CheckState | undefined;
  merged: CheckState;
  /** The time of the result, Unix seconds; 0 if it has none. */
  timestampS: number;
}

/** Opens, continues or ends the incident of a check. A result that repeats the previous one writes nothing. */
export function recordIncident(ctx: DecisionContext, { key, previous, merged, timestampS }: IncidentInput): void {
  const change = incidentChange(previous, merged);
  if (change === 'unchanged') return;
  if (change === 'resolved') {
    ctx.delete('incidents', key);
    return;
  }
  const atS = timestampS > 0 ? timestampS : ctx.nowS;
  const stored = change === 'continued' ? ctx.get('incidents', key) : undefined;
  if (stored !== undefined) ctx.put('incidents', key, { ...stored, lastStateChangeS: atS });
  else if (change === 'opened') ctx.put('incidents', key, { id: randomUUID(), openedAtS: atS, lastStateChangeS: atS });
  else ctx.put('incidents', key, derivedIncident(key, merged));
}

/** Writes the incident of a stored event again, if the event is open. Returns whether it is. */
export function restoreIncident(ctx: DecisionContext, key: string): boolean {
  const state = ctx.get('events', key)?.state;
  if (state === undefined || !isOpen(state.history.statuses.at(-1) ?? 0, state.state)) return false;
  ctx.put('incidents', key, derivedIncident(key, state));
  return true;
}

/** Ends the incident of an event that is deleted. */
export function endIncident(ctx: DecisionContext, key: string, { history, state }: CheckState): void {
  if (isOpen(history.statuses.at(-1) ?? 0, state)) ctx.delete('incidents', key);
}

/** An incident of which only the history of its check is known. */
const derivedIncident = (key: string, { lastOk, history }: CheckState): Incident => ({
  id: derivedId(key, lastOk),
  ...incidentTimes(history),
});

/** Returns the id of an incident whose start is not known: the same for the same incident. Source: spec/05 3.3. */
function derivedId(key: string, lastOkS: number): string {
  const name = Buffer.concat([Buffer.from(INCIDENTS.replaceAll('-', ''), 'hex'), Buffer.from(`${key}/${lastOkS}`)]);
  const bytes = createHash('sha1').update(name).digest().subarray(0, UUID_BYTES);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
