import { activeStates } from '../machines/chart-states.ts';
import type { Chart } from '../machines/chart.ts';

/** A message of the inspector's WebSocket, in the format of `@statelyai/inspect`. */
export interface InspectMessage {
  type: '@xstate.actor' | '@xstate.event' | '@xstate.snapshot';
  /** Unix ms as text. */
  createdAt: string;
  sessionId: string;
  seq: string;
  name?: string;
  /** The definition of the machine, as JSON text. */
  definition?: string;
  event?: InspectEvent;
  snapshot?: { status: string; value: unknown; context: Record<string, unknown> };
}

interface InspectEvent {
  type: string;
  /** Of transitions from the ledger only. */
  guards?: readonly { name: string; passed: boolean }[];
  [field: string]: unknown;
}

/** An actor as the messages so far describe it. */
export interface InspectedActor {
  sessionId: string;
  machine: string;
  definition: { id: string; version: string; states: Record<string, unknown> } | undefined;
  value: unknown;
  status: string;
  context: Record<string, unknown>;
  /** The state before the last event. */
  before: unknown;
  lastEvent: InspectEvent | undefined;
}

/** What an inspector knows. */
export interface Inspected {
  actors: ReadonlyMap<string, InspectedActor>;
  /** The last messages, newest first. */
  log: readonly InspectMessage[];
  received: number;
}

/** Older messages are dropped from the log. */
const MAX_LOGGED = 200;

export const NOTHING: Inspected = { actors: new Map(), log: [], received: 0 };

/** Adds a message to what is known. */
export function withMessage(known: Inspected, message: InspectMessage): Inspected {
  const { sessionId } = message;
  const actors = new Map(known.actors);
  actors.set(sessionId, changed(actors.get(sessionId) ?? unknownActor(sessionId), message));
  return { actors, log: [message, ...known.log].slice(0, MAX_LOGGED), received: known.received + 1 };
}

const unknownActor = (sessionId: string): InspectedActor => ({
  sessionId,
  machine: sessionId.slice(0, Math.max(0, sessionId.indexOf(':'))),
  definition: undefined,
  value: undefined,
  status: 'active',
  context: {},
  before: undefined,
  lastEvent: undefined,
});

function changed(actor: InspectedActor, { type, definition, event, snapshot }: InspectMessage): InspectedActor {
  if (type === '@xstate.event') return { ...actor, lastEvent: event, before: actor.value };
  const { value, status, context } = snapshot ?? actor;
  if (type === '@xstate.snapshot') return { ...actor, value, status, context };
  const parsed = definition === undefined ? undefined : (JSON.parse(definition) as InspectedActor['definition']);
  return { ...actor, value, status, context, definition: parsed, before: undefined, lastEvent: undefined };
}

/** Ids of the transitions that the last event of an actor may have taken: those between the states before and after it. */
export function lastTaken(chart: Chart, { before, value, lastEvent }: InspectedActor): ReadonlySet<string> {
  if (lastEvent === undefined || before === undefined) return new Set();
  const [from, to] = [activeStates(chart, before), activeStates(chart, value)];
  const isSame = JSON.stringify(before) === JSON.stringify(value);
  const passed = new Set(lastEvent.guards?.filter((guard) => guard.passed).map(({ name }) => name));
  const candidates = chart.transitions.filter(({ event, source, target }) => {
    const leadsThere = target === undefined ? isSame : to.has(target);
    return event === lastEvent.type && from.has(source) && leadsThere;
  });
  const narrowed = candidates.filter(({ guard }) => (guard === undefined ? passed.size === 0 : passed.has(guard)));
  const chosen = lastEvent.guards === undefined || narrowed.length === 0 ? candidates : narrowed;
  return new Set(chosen.map(({ id }) => id));
}
