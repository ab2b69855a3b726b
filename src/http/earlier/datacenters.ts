import { Forbidden, InvalidResource, NotFound } from '../../resources/errors.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';
import type { AccessRequest, Verb } from '../../rules/rbac.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { EarlierRequest } from './earlier-route.ts';

/** A namespace as the first generation shows it. */
export interface Datacenter {
  dc: string;
  namespace: string;
}

/** The objects that a request changes, and the verbs that it needs. */
export interface Change {
  resource: string;
  verbs: readonly Verb[];
  /** The name of one object. */
  name?: string;
}

const compare = (one: Datacenter, other: Datacenter): number => (one.dc < other.dc ? -1 : one.dc > other.dc ? 1 : 0);

/** The namespaces that the API of the first generation shows: those that are mapped, or all but that of the backend itself. */
export class Datacenters {
  readonly #resources: Pick<ResourceStore, 'list'>;
  readonly #names: ReadonlyMap<string, string>;

  constructor(resources: Pick<ResourceStore, 'list'>, names: Readonly<Record<string, string>>) {
    this.#resources = resources;
    this.#names = new Map(Object.entries(names));
  }

  /**
   * Returns the datacenters in which the caller may use a resource, in the order of their names; with `dc` in the query only that
   * one. @throws NotFound when the caller may not use the resource in that datacenter, or it does not exist
   */
  allowed({ caller, query }: EarlierRequest, resource: string, verb: Verb): Datacenter[] {
    const allowed = this.#exposed().filter(({ namespace }) => caller.may({ resource, verb, namespace, name: '' }));
    const wanted = query.get('dc') ?? '';
    return wanted === '' ? allowed : [oneOf(allowed, wanted)];
  }

  /**
   * Returns the datacenter that the body or the query names, for a change. Without a name it is `default`, unless a name `isRequired`
   * and there are several. @throws InvalidResource, Forbidden, NotFound when it does not exist or the caller may not use it at all
   */
  forChange(request: EarlierRequest, { resource, verbs, name = '' }: Change, isRequired = false): Datacenter {
    const datacenter = this.#named(dcOf(request), isRequired);
    const { namespace } = datacenter;
    const { caller } = request;
    if (verbs.every((verb) => caller.may({ resource, verb, namespace, name }))) return datacenter;
    throw caller.may({ resource, verb: 'list', namespace, name: '' }) ? new Forbidden('') : new NotFound();
  }

  #named(dc: string, isRequired: boolean): Datacenter {
    const exposed = this.#exposed();
    if (dc !== '') return oneOf(exposed, dc);
    if (isRequired && exposed.length > 1) throw new InvalidResource('dc must name a datacenter');
    const byDefault = exposed.find(({ namespace }) => namespace === 'default') ?? exposed[0];
    if (byDefault === undefined) throw new NotFound();
    return byDefault;
  }

  #exposed(): Datacenter[] {
    const namespaces = this.#resources.list('namespaces').items.map(({ name }) => name);
    const shown = namespaces.filter((name) =>
      this.#names.size === 0 ? name !== SYSTEM_NAMESPACE : this.#names.has(name),
    );
    return shown.map((namespace) => ({ dc: this.#names.get(namespace) ?? namespace, namespace })).sort(compare);
  }
}

/** @throws Forbidden unless the caller may do this to one object */
export function assertMay({ caller }: EarlierRequest, access: AccessRequest): void {
  if (!caller.may(access)) throw new Forbidden('');
}

/** The member `dc` of the body, else that of the query. @throws InvalidResource */
function dcOf({ body, query }: EarlierRequest): string {
  const dc = body['dc'] ?? query.get('dc') ?? '';
  if (typeof dc !== 'string') throw new InvalidResource('dc must be a string');
  return dc;
}

function oneOf(datacenters: readonly Datacenter[], dc: string): Datacenter {
  const found = datacenters.find((one) => one.dc === dc);
  if (found === undefined) throw new NotFound();
  return found;
}
