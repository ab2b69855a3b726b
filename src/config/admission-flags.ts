import { type FlagValues, kinds } from './flags.ts';

const MAX_ENTITIES = 1_000_000_000;

/** The entities whose events an agent may send. */
const EVENTS_POLICIES = ['own', 'own-and-proxies', 'any'] as const;

/** The admission of agents, and the limits of what they may write. */
export interface AdmissionConfig {
  /** The limit of entities; no limit when absent or 0. */
  readonly entityLimit?: number;
  /** The entities whose events an agent may send; `any` of its namespace by default. */
  readonly agentEventsPolicy?: (typeof EVENTS_POLICIES)[number];
  /** The pace of connections; unlimited by default. */
  readonly agentAdmission?: {
    /** After the start. */
    readonly serveWaitMs: number;
    /** Connections that are accepted per second; 0 = no limit. */
    readonly connectionsPerS: number;
    readonly refusesDuplicates: boolean;
  };
}

export const admissionFlags = {
  'entity-limit': {
    kind: kinds.integer(0, MAX_ENTITIES),
    fallback: 100,
    about: 'limit of entities in all namespaces, 0 for no limit',
  },
  'agent-serve-wait-time': {
    kind: kinds.duration(),
    fallback: 0,
    about: 'time after the start during which agents are refused',
  },
  'agent-rate-limit': {
    kind: kinds.decimal(0),
    fallback: 0,
    about: 'agent connections accepted per second, 0 for no limit',
  },
  'agent-refuse-duplicates': {
    kind: kinds.boolean,
    fallback: false,
    about: 'refuse an agent while another one with the same name is connected',
  },
  'agent-events-policy': {
    kind: kinds.oneOf(EVENTS_POLICIES),
    fallback: 'any' as (typeof EVENTS_POLICIES)[number],
    about: 'entities whose events an agent may send: own, own-and-proxies (all but those of other agents) or any',
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
