import { type FlagValues, kinds } from '../parsing/flags.ts';

const MAX_BURST = 1_000_000;
const MAX_ENTITIES = 1_000_000_000;
const MAX_CHECKS = 1_000_000;
const MIB = 2 ** 20;
const MAX_MIB = 2 ** 20;

/** The entities whose events an agent may send. */
const EVENTS_POLICIES = ['own', 'own-and-proxies', 'any'] as const;

/** The admission of agents, and the limits of what they may write. */
export interface AdmissionConfig {
  /** The limit of entities; no limit when absent or 0. */
  readonly entityLimit?: number;
  /** The checks and the bytes of the stored results of one entity; no limit when absent or 0. */
  readonly entityUseLimits?: { readonly checks: number; readonly bytes: number };
  /** The entities whose events an agent may send; `any` of its namespace by default. */
  readonly agentEventsPolicy?: (typeof EVENTS_POLICIES)[number];
  /** The pace of connections; unlimited by default. */
  readonly agentAdmission?: {
    /** After the start. */
    readonly serveWaitMs: number;
    /** Connections that are accepted per second; 0 = no limit. */
    readonly connectionsPerS: number;
    /** Connections that are accepted at once; 0 = as many as per second. */
    readonly burst?: number;
    readonly refusesDuplicates: boolean;
  };
}

export const admissionFlags = {
  'entity-limit': {
    kind: kinds.integer(0, MAX_ENTITIES),
    fallback: 100,
    about: 'largest number of entities in all namespaces together, 0 for no limit',
  },
  'entity-check-limit': {
    kind: kinds.integer(0, MAX_CHECKS),
    fallback: 10_000,
    about: 'checks of one entity whose results are stored; results of further checks are refused; 0 for no limit',
  },
  'entity-size-limit': {
    kind: kinds.integer(0, MAX_MIB),
    fallback: 100,
    about: 'total size in MiB of the large results that are stored of one entity, 0 for no limit',
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
  'agent-burst-limit': {
    kind: kinds.integer(0, MAX_BURST),
    fallback: 0,
    about: 'largest burst of agent connections with --agent-rate-limit, 0 for the value of that flag',
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
    entityUseLimits: Object.freeze({ checks: values['entity-check-limit'], bytes: values['entity-size-limit'] * MIB }),
    agentEventsPolicy: values['agent-events-policy'],
    agentAdmission: Object.freeze({
      serveWaitMs: values['agent-serve-wait-time'],
      connectionsPerS: values['agent-rate-limit'],
      burst: values['agent-burst-limit'],
      refusesDuplicates: values['agent-refuse-duplicates'],
    }),
  };
}
