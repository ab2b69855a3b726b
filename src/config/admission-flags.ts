import { type FlagValues, kinds } from './flags.ts';

const MAX_ENTITIES = 1_000_000_000;

/** Which entities an agent may send events of. */
const EVENTS_POLICIES = ['own', 'own-and-proxies', 'any'] as const;

/** Who is let in, and what he may write. */
export interface AdmissionConfig {
  /** Entities that may exist; no limit unless it is given and above 0. */
  readonly entityLimit?: number;
  /** Of which entities an agent may send events; `any` of its namespace unless it is given. */
  readonly agentEventsPolicy?: (typeof EVENTS_POLICIES)[number];
  /** Everybody is let in at once unless it is given. */
  readonly agentAdmission?: {
    /** After the start. */
    readonly serveWaitMs: number;
    /** Connections that are taken in a second; 0 = no limit. */
    readonly connectionsPerS: number;
    readonly refusesDuplicates: boolean;
  };
}

export const admissionFlags = {
  'entity-limit': {
    kind: kinds.integer(0, MAX_ENTITIES),
    fallback: 100,
    about: 'entities of all namespaces that may exist, 0 for no limit',
  },
  'agent-serve-wait-time': {
    kind: kinds.duration(),
    fallback: 0,
    about: 'agents are refused for so long after the start',
  },
  'agent-rate-limit': {
    kind: kinds.decimal(0),
    fallback: 0,
    about: 'connections of agents that are taken in a second, 0 for no limit',
  },
  'agent-refuse-duplicates': {
    kind: kinds.boolean,
    fallback: false,
    about: 'an agent is refused while another of its name is connected',
  },
  'agent-events-policy': {
    kind: kinds.word(EVENTS_POLICIES),
    fallback: 'any' as (typeof EVENTS_POLICIES)[number],
    about: 'entities that an agent may send events of beside its own; own-and-proxies: all but those of other agents',
  },
};

export function admissionConfig(values: FlagValues<typeof admissionFlags>): AdmissionConfig {
  return {
    entityLimit: values['entity-limit'],
    agentEventsPolicy: values['agent-events-policy'],
    agentAdmission: Object.freeze({
      serveWaitMs: values['agent-serve-wait-time'],
      connectionsPerS: values['agent-rate-limit'],
      refusesDuplicates: values['agent-refuse-duplicates'],
    }),
  };
}
