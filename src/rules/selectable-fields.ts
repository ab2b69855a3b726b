import type { Lookup } from './selectors.ts';

/** Fields are named `<prefix>.<name>`; labels are `<prefix>.labels.<key>`. */
interface Fields {
  prefix: string;
  names: readonly string[];
}

const OF_NAMESPACE = ['name', 'namespace'] as const;

/** By what the objects of each list can be selected. Source: the REST API, 2.10. */
const FIELDS = {
  apikeys: { prefix: 'api_key', names: ['name', 'username'] },
  assets: { prefix: 'asset', names: [...OF_NAMESPACE, 'filters'] },
  checks: {
    prefix: 'check',
    names: [...OF_NAMESPACE, 'handlers', 'publish', 'round_robin', 'runtime_assets', 'subscriptions', 'pipelines'],
  },
  clusterrolebindings: { prefix: 'clusterrolebinding', names: ['name', 'role_ref.name', 'role_ref.type'] },
  clusterroles: { prefix: 'clusterrole', names: ['name'] },
  entities: { prefix: 'entity', names: [...OF_NAMESPACE, 'deregister', 'entity_class', 'subscriptions'] },
  filters: { prefix: 'filter', names: [...OF_NAMESPACE, 'action', 'runtime_assets'] },
  handlers: { prefix: 'handler', names: [...OF_NAMESPACE, 'filters', 'handlers', 'mutator', 'type'] },
  hooks: { prefix: 'hook', names: OF_NAMESPACE },
  mutators: { prefix: 'mutator', names: [...OF_NAMESPACE, 'runtime_assets'] },
  namespaces: { prefix: 'namespace', names: ['name'] },
  pipelines: { prefix: 'pipeline', names: OF_NAMESPACE },
  rolebindings: { prefix: 'rolebinding', names: [...OF_NAMESPACE, 'role_ref.name', 'role_ref.type'] },
  roles: { prefix: 'role', names: OF_NAMESPACE },
  silenced: {
    prefix: 'silenced',
    names: [...OF_NAMESPACE, 'check', 'creator', 'expire_on_resolve', 'reason', 'subscription'],
  },
  users: { prefix: 'user', names: ['username', 'disabled', 'groups'] },
} as const satisfies Record<string, Fields>;

const EVENT: Fields = { prefix: 'event', names: OF_NAMESPACE };
const CHECK_OF_EVENT: Fields = {
  prefix: 'event.check',
  names: [
    'name',
    'handlers',
    'is_silenced',
    'publish',
    'round_robin',
    'runtime_assets',
    'state',
    'status',
    'subscriptions',
  ],
};
const ENTITY_OF_EVENT: Fields = {
  prefix: 'event.entity',
  names: ['name', 'deregister', 'entity_class', 'subscriptions'],
};

export type SelectableKind = keyof typeof FIELDS | 'events';

/** What can be asked of one object. */
export interface Selectable {
  fields: Lookup;
  labels: Lookup;
}

type Members = Readonly<Record<string, unknown>>;

/** `object` is of that kind, as it is shown: what is hidden must not be found out by asking for it. */
export function selectable(kind: SelectableKind, object: object): Selectable {
  const members = object as Members;
  if (kind === 'events') return selectableEvent(members);
  const labels = labelsOf(members);
  return { fields: fieldsOf(FIELDS[kind], members, labels), labels };
}

/** Labels of all three count; of the same key the check's, then the entity's. */
function selectableEvent(event: Members): Selectable {
  const [check, entity] = [membersOf(event['check']), membersOf(event['entity'])];
  const labels = firstOf(labelsOf(check), labelsOf(entity), labelsOf(event));
  const fields = firstOf(
    fieldsOf(EVENT, event, labels),
    fieldsOf(CHECK_OF_EVENT, check),
    fieldsOf(ENTITY_OF_EVENT, entity),
    (field) => (field === 'event.is_silenced' ? textOf(check['is_silenced']) : undefined),
  );
  return { fields, labels };
}

const firstOf =
  (...lookups: Lookup[]): Lookup =>
  (field) => {
    for (const lookup of lookups) {
      const value = lookup(field);
      if (value !== undefined) return value;
    }
    return undefined;
  };

function fieldsOf({ prefix, names }: Fields, object: Members, labels?: Lookup): Lookup {
  const ofLabels = `${prefix}.labels.`;
  return (field) => {
    if (labels !== undefined && field.startsWith(ofLabels)) return labels(field.slice(ofLabels.length));
    if (!field.startsWith(`${prefix}.`)) return undefined;
    const name = field.slice(prefix.length + 1);
    return names.includes(name) ? textOf(valueAt(object, name)) : undefined;
  };
}

function labelsOf(object: Members): Lookup {
  const labels = membersOf(membersOf(object['metadata'])['labels']);
  return (key) => (Object.hasOwn(labels, key) ? textOf(labels[key]) : undefined);
}

/** A name is in the metadata of what has any. */
function valueAt(object: Members, name: string): unknown {
  const isNaming = name === 'name' || name === 'namespace';
  if (isNaming && 'metadata' in object) return membersOf(object['metadata'])[name];
  return name.split('.').reduce<unknown>((value, part) => membersOf(value)[part], object);
}

const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

/** Lists are joined by commas; what is not set is empty; of a reference it is the id. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (typeof value !== 'object' || value === null) return '';
  const { api_version: version, type, name } = value as Members;
  return `${textOf(version)}.${textOf(type)}(Name=${textOf(name)})`;
}
