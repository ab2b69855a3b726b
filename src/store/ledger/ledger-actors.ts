import { ACTOR_KINDS, type ActorKindName } from '../../resources/actor-address.ts';
import { CONFIGURATION_KINDS, type ConfigurationKindName } from '../../resources/configuration-kinds.ts';

/** What is neither an actor nor a described kind: other kinds of resources, and the parts of the backend. */
const OTHERS = [
  'agent',
  'agent-session',
  'aggregate',
  'apikeys',
  'backend',
  'entities',
  'ledger',
  'namespaces',
  'notification',
  'outbox',
  'quarantine',
  'refused-entities',
  'silenced',
  'stashes',
  'store',
  'tessen',
  'users',
] as const;

/** The name of what an entry of the ledger is about: the kind of an actor or of a resource, or a part of the backend. */
export type LedgerActor = ActorKindName | ConfigurationKindName | (typeof OTHERS)[number];

/** All names of this version, sorted. Entries of earlier versions may have others. */
export const LEDGER_ACTORS: readonly string[] = [
  ...ACTOR_KINDS,
  ...Object.keys(CONFIGURATION_KINDS),
  ...OTHERS,
].toSorted();
