import type { SelectableFields } from '../resources/configuration-kinds.ts';
import type { Lookup } from './selectors.ts';

const OF_NAMESPACE = ['name', 'namespace'] as const;

/** The fields of the kinds that are not configuration kinds. */
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

/** One of these kinds, or the fields of a configuration kind. */
export type SelectableKind = keyof typeof FIELDS | 'events' | SelectableFields;

/** The fields and labels of one object, for selectors. */
export interface Selectable {
  fields: Lookup;
  labels: Lookup;
}

type Members = Readonly<Record<string, unknown>>;

/** `object` is in the form of responses, so that selectors cannot reveal redacted values. */
export function selectable(kind: SelectableKind, object: object): Selectable {
  const members = object as Members;
  if (kind === 'events') return selectableEvent(members);
  const labels = labelsOf(members);
  const by = typeof kind === 'string' ? FIELDS[kind] : kind;
  return { fields: fieldsOf(by, members, labels), labels };
}

/** Combines the labels of all three. The label of the check takes precedence, then that of the entity. */
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

function fieldsOf({ prefix, names, within }: SelectableFields, object: Members, labels?: Lookup): Lookup {
  const ofLabels = `${prefix}.labels.`;
  return (field) => {
    if (labels !== undefined && field.startsWith(ofLabels)) return labels(field.slice(ofLabels.length));
    if (!field.startsWith(`${prefix}.`)) return undefined;
    const name = field.slice(prefix.length + 1);
    return names.includes(name) ? textOf(valueAt(object, name, within)) : undefined;
  };
}

function labelsOf(object: Members): Lookup {
  const labels = membersOf(membersOf(object['metadata'])['labels']);
  return (key) => (Object.hasOwn(labels, key) ? textOf(labels[key]) : undefined);
}

/** Names are in the metadata of objects that have metadata. */
function valueAt(object: Members, name: string, within: string | undefined): unknown {
  const isNaming = name === 'name' || name === 'namespace';
  if (isNaming && 'metadata' in object) return membersOf(object['metadata'])[name];
  const fields = within === undefined ? object : object[within];
  return name.split('.').reduce<unknown>((value, part) => membersOf(value)[part], fields);
}

const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

/** Joins lists by commas and returns the id of a reference. A value that is not set is empty. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (typeof value !== 'object' || value === null) return '';
  const { api_version: version, type, name } = value as Members;
  return `${textOf(version)}.${textOf(type)}(Name=${textOf(name)})`;
}
