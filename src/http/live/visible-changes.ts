import type { AccessControl } from '../../auth/access-control.ts';
import { Forbidden } from '../../resources/errors.ts';
import type { Subject } from '../../rules/rbac.ts';
import type { LedgerEntry } from '../../store/ledger/ledger.ts';

/** The resource that a user must be allowed to list to see changes of a kind. Changes of other kinds need the ledger. */
const RESOURCES: Readonly<Record<string, string>> = {
  'check-state': 'events',
  'check-ttl': 'events',
  entity: 'entities',
  connection: 'entities',
  'agent-session': 'entities',
  entities: 'entities',
  silence: 'silenced',
  silenced: 'silenced',
  'check-schedule': 'checks',
  checks: 'checks',
};
const LEDGER = 'ledger';

/** The namespace that an entry belongs to: keys begin with it, except those of connections. */
export function namespaceOf({ actor, key, details }: LedgerEntry): string {
  const named = actor === 'connection' ? (details?.['namespace'] as string | undefined) : undefined;
  return named ?? key.split('/', 1)[0] ?? '';
}

/** Decides which entries of the ledger a user may see. It is used for one step of reading, because rights change. */
export class VisibleChanges {
  readonly #access: Pick<AccessControl, 'assertAllowed'>;
  readonly #subject: Subject;
  readonly #decided = new Map<string, boolean>();

  constructor(access: Pick<AccessControl, 'assertAllowed'>, subject: Subject) {
    this.#access = access;
    this.#subject = subject;
  }

  has(entry: LedgerEntry): boolean {
    if (this.#mayList(LEDGER, undefined)) return true;
    const resource = RESOURCES[entry.actor];
    return resource !== undefined && this.#mayList(resource, namespaceOf(entry));
  }

  #mayList(resource: string, namespace: string | undefined): boolean {
    const key = `${resource} ${namespace ?? ''}`;
    let allowed = this.#decided.get(key);
    if (allowed === undefined) {
      allowed = this.#decide(resource, namespace);
      this.#decided.set(key, allowed);
    }
    return allowed;
  }

  #decide(resource: string, namespace: string | undefined): boolean {
    try {
      this.#access.assertAllowed(this.#subject, { resource, verb: 'list', namespace, name: '' });
      return true;
    } catch (error) {
      if (error instanceof Forbidden) return false;
      throw error;
    }
  }
}
