import type { SelectableFields } from '../resources/configuration-kinds.ts';
import type { Lookup } from './selectors.ts';

const OF_NAMESPACE = ['name', 'namespace'] as const;

/** Of those kinds that have no description of their own. */
const FIELDS = {
  apikeys: { prefix: 'api_key', names: ['name', 'username'] },
  entities: { prefix: 'entity', names: [...OF_NAMESPACE, 'deregister', 'entity_class', 'subscriptions'] },
  namespaces: { prefix: 'namespace', names: ['name'] },
  silenced: {
    prefix: 'silenced',
    names: [...OF_NAMESPACE, 'check', 'creator', 'expire_on_resolve', 'reason', 'subscription'],
  },
  users: { prefix: 'user', names: ['username', 'disabled', 'groups'] },
} as const satisfies Record<string, SelectableFields>;

const EVENT: SelectableFields = { prefix: 'event', names: OF_NAMESPACE };
const CHECK_OF_EVENT: SelectableFields = {
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
const ENTITY_OF_EVENT: SelectableFields = {
  prefix: 'event.entity',
  names: ['name', 'deregister', 'entity_class', 'subscriptions'],
};

/** A kind of those, or the fields of one that is described. */
export type SelectableKind = keyof typeof FIELDS | 'events' | SelectableFields;

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
  const by = typeof kind === 'string' ? FIELDS[kind] : kind;
  return { fields: fieldsOf(by, members, labels), labels };
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

function fieldsOf({ prefix, names }: SelectableFields, object: Members, labels?: Lookup): Lookup {
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
