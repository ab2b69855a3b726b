import type { EventObject } from 'xstate';
import { type ActorAddress, sessionIdOf } from '../../resources/actor-address.ts';
import { redactFields } from '../../resources/redaction.ts';
import { definitionOf, type MachineDefinition } from './definition.ts';
import type { Machines } from '../core/machines.ts';
import { isRecordedKind, RECORDED_CHARTS } from './recorded-states.ts';

/** The inspector release that defines these messages. Receivers check only that it is a string. */
const FORMAT_VERSION = '0.7.2';
/** The id of the only actor system. */
const ROOT_ID = 'mon';

/** The snapshot of an actor. Keyed machines have no children, no history states and no tags. */
export interface InspectedSnapshot {
  status: string;
  value: unknown;
  context: unknown;
}

/** The actor and the time of a message. */
export interface MessageOrigin {
  address: ActorAddress;
  /** Unix ms. */
  atMs: number;
  /** The position that a reader sends when it reconnects. */
  seq: string;
  /** Words that the entity redacts in addition to the default ones. */
  redact: readonly string[] | undefined;
}

/** Builds the text messages that inspectors of XState read. */
export class InspectMessages {
  readonly #machines: Machines;
  readonly #definitions = new Map<string, string>();

  constructor(machines: Machines) {
    this.#machines = machines;
  }

  /** Registers an actor with its current snapshot. */
  actor(origin: MessageOrigin, snapshot: InspectedSnapshot): string {
    const { address, redact } = origin;
    return message('@xstate.actor', origin, {
      name: address.key,
      definition: this.#definitionOf(address),
      snapshot: shown(snapshot, redact),
    });
  }

  /** Reports an event that the actor receives. */
  event(origin: MessageOrigin, event: EventObject): string {
    return message('@xstate.event', origin, { event: shownEvent(event, origin.redact) });
  }

  /** Reports the snapshot after an event. */
  snapshot(origin: MessageOrigin, event: EventObject, snapshot: InspectedSnapshot): string {
    const { redact } = origin;
    return message('@xstate.snapshot', origin, {
      event: shownEvent(event, redact),
      snapshot: shown(snapshot, redact),
    });
  }

  /** Returns `done` for a final state of the kind. */
  statusIn({ actor }: ActorAddress, state: string): 'active' | 'done' {
    const { states } = this.#chartOf(actor);
    return (states[state] as { type?: string } | undefined)?.type === 'final' ? 'done' : 'active';
  }

  #chartOf(actor: ActorAddress['actor']): MachineDefinition {
    return isRecordedKind(actor) ? RECORDED_CHARTS[actor] : definitionOf(this.#machines[actor]);
  }

  #definitionOf({ actor }: ActorAddress): string {
    let definition = this.#definitions.get(actor);
    if (definition === undefined) {
      definition = JSON.stringify(this.#chartOf(actor));
      this.#definitions.set(actor, definition);
    }
    return definition;
  }
}

function message(type: string, { address, atMs, seq }: MessageOrigin, fields: object): string {
  return JSON.stringify({
    type,
    _version: FORMAT_VERSION,
    createdAt: String(atMs),
    id: null,
    rootId: ROOT_ID,
    sessionId: sessionIdOf(address),
    ...fields,
    seq,
  });
}

function shown({ status, value, context }: InspectedSnapshot, redact: MessageOrigin['redact']): object {
  return { status, value, context: redactFields(context, redact), children: {}, historyValue: {}, tags: [] };
}

/** Redacts the fields of an event except its type. */
const shownEvent = (event: EventObject, redact: MessageOrigin['redact']): object => ({
  ...(redactFields(event, redact) as object),
  type: event.type,
});
