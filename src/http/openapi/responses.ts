import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../resources/errors.ts';
import { INTERNAL, KINDS } from '../answer/errors.ts';
import { parameterNames } from './parameters.ts';
import { TEXT } from './descriptions.ts';
import type { ComponentSchemas } from './schemas.ts';
import type { DescribedAnswer, Route } from '../request/route.ts';

type Row = Omit<Route, 'handle'>;

const ErrorSchema = Type.Object(
  { message: Type.String({ description: 'names the field and the rule' }), code: Type.Integer({ minimum: 0 }) },
  { $id: 'mon/v1.Error' },
);

const JSON_TYPE = 'application/json';
/** The status while the backend starts. */
const STARTING_UP = 503;
const RIGHTS = [KINDS.unauthenticated.status, KINDS.forbidden.status];

const HEADERS: Readonly<Record<string, TSchema>> = {
  ETag: Type.String({ description: 'strong tag of what is stored, for `If-Match`' }),
  Location: Type.String({ description: 'path of what was created' }),
  'Sensu-Continue': Type.String({ description: 'the parameter `continue` of the next page; absent on the last' }),
  'Retry-After': Type.Integer({ description: 'seconds' }),
};

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created, or replaced',
  202: 'Accepted',
  204: 'Done',
  304: 'Not modified: it still has a tag of `If-None-Match`',
  503: 'Unavailable',
};

/** By status. Refusals that are the same everywhere are components. */
export class ComponentResponses {
  readonly #schemas: ComponentSchemas;
  readonly #refusals = new Map<string, object>();

  constructor(schemas: ComponentSchemas) {
    this.#schemas = schemas;
  }

  get all(): Record<string, object> {
    return Object.fromEntries([...this.#refusals].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  of(row: Row): Record<string, object> {
    const answers = Object.entries(row.description.answers).map(([status, answer]) => {
      return [status, this.#answer(DESCRIPTIONS[Number(status)] ?? 'Otherwise', answer)] as const;
    });
    const taken = new Set(Object.keys(row.description.answers).map(Number));
    const refusals = statusesOf(row).filter((status) => !taken.has(status));
    return Object.fromEntries([
      ...answers,
      ...refusals.map((status) => [status, this.#refusal(status, isText(row, status))] as const),
    ]);
  }

  #refusal(status: number, asText: boolean): object {
    const name = `${asText ? 'TextError' : 'Error'}${status}`;
    if (!this.#refusals.has(name)) {
      const retry = status === 429 || status === 503 ? ['Retry-After'] : [];
      this.#refusals.set(name, this.#answer(messagesOf(status), asText ? TEXT : { schema: ErrorSchema }, retry));
    }
    return { $ref: `#/components/responses/${name}` };
  }

  #answer(description: string, { schema, type = JSON_TYPE, headers = [] }: DescribedAnswer, more: string[] = []) {
    const content = schema === undefined ? {} : { content: { [type]: { schema: this.#schemas.of(schema) } } };
    const names = [...headers, ...more];
    const shown = names.map((name) => [name, this.#header(HEADERS[name] ?? Type.String())] as const);
    return { description, ...content, ...(names.length === 0 ? {} : { headers: Object.fromEntries(shown) }) };
  }

  #header(described: TSchema): object {
    const { description, ...schema } = this.#schemas.of(described) as { description?: string };
    return { description, schema };
  }
}

/** Whoever has no right is told so as everywhere. */
const isText = ({ access, errorsAs }: Row, status: number): boolean =>
  errorsAs === 'text' && (access === 'open' || !RIGHTS.includes(status));

/** Which refusals a row may answer with. */
function statusesOf(row: Row): number[] {
  const statuses = [...refusalsOf(row)].map((code) => KINDS[code].status);
  const always = row.availableAtStartup === true ? [INTERNAL.status] : [INTERNAL.status, STARTING_UP];
  return [...new Set([...statuses, ...always])];
}

/** The usual messages of all errors of a status. */
function messagesOf(status: number): string {
  const messages = [INTERNAL, ...Object.values(KINDS)].filter((kind) => kind.status === status);
  return messages.map(({ message }) => message).join(', or ');
}

function refusalsOf({ method, path, access, admit, reads, description }: Row): Set<ErrorCode> {
  // A query that cannot be read is refused everywhere.
  const codes = new Set<ErrorCode>(['invalid-resource', ...(description.errors ?? [])]);
  if (access !== 'open' || admit !== undefined || description.credentials !== undefined) codes.add('unauthenticated');
  if (typeof access === 'object') codes.add('forbidden');
  if (parameterNames(path).length > 0) codes.add('not-found');
  if (reads !== 'nothing') codes.add('too-large');
  if (reads === 'merge-patch') codes.add('stale-revision');
  if (method !== 'GET') codes.add('store-unavailable').add('overloaded');
  return codes;
}
