import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../resources/errors.ts';
import { INTERNAL, KINDS } from '../answer/errors.ts';
import { parameterNames } from './parameters.ts';
import { TEXT } from './descriptions.ts';
import type { ComponentSchemas } from './schemas.ts';
import type { DescribedAnswer, Route } from '../request/route.ts';

type DescribedRoute = Omit<Route, 'handle'>;

const ErrorSchema = Type.Object(
  {
    message: Type.String({ description: 'Names the field and the violated rule' }),
    code: Type.Integer({ minimum: 0 }),
  },
  { $id: 'mon/v1.Error' },
);

const JSON_TYPE = 'application/json';
/** Status of every request while the backend starts. */
const STARTING_UP = 503;
const ACCESS_ERRORS = [KINDS.unauthenticated.status, KINDS.forbidden.status];

const HEADERS: Readonly<Record<string, TSchema>> = {
  ETag: Type.String({ description: 'Strong entity tag of the stored resource, for `If-Match`' }),
  Location: Type.String({ description: 'Path of the created resource, or of the page to go to' }),
  'Sensu-Continue': Type.String({
    description: 'Value of the parameter `continue` for the next page; absent on the last page',
  }),
  'Retry-After': Type.Integer({ description: 'Seconds to wait before the next attempt' }),
};

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created or replaced',
  202: 'Accepted',
  204: 'No content',
  302: 'Found: the page in `Location`',
  304: 'Not modified: the entity tag matches `If-None-Match`',
  503: 'Unavailable',
};

/** Builds the responses of operations by status. Errors shared by several operations become components. */
export class ComponentResponses {
  readonly #schemas: ComponentSchemas;
  readonly #errors = new Map<string, object>();

  constructor(schemas: ComponentSchemas) {
    this.#schemas = schemas;
  }

  get all(): Record<string, object> {
    return Object.fromEntries([...this.#errors].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  of(route: DescribedRoute): Record<string, object> {
    const answers = Object.entries(route.description.answers).map(([status, answer]) => {
      return [status, this.#answer(DESCRIPTIONS[Number(status)] ?? 'Other response', answer)] as const;
    });
    const described = new Set(Object.keys(route.description.answers).map(Number));
    const errors = statusesOf(route).filter((status) => !described.has(status));
    return Object.fromEntries([
      ...answers,
      ...errors.map((status) => [status, this.#error(status, isText(route, status))] as const),
    ]);
  }

  #error(status: number, asText: boolean): object {
    const name = `${asText ? 'TextError' : 'Error'}${status}`;
    if (!this.#errors.has(name)) {
      const retry = status === 429 || status === 503 ? ['Retry-After'] : [];
      this.#errors.set(name, this.#answer(messagesOf(status), asText ? TEXT : { schema: ErrorSchema }, retry));
    }
    return { $ref: `#/components/responses/${name}` };
  }

  #answer(description: string, { schema, type = JSON_TYPE, headers = [] }: DescribedAnswer, more: string[] = []) {
    const content = schema === undefined ? {} : { content: { [type]: { schema: this.#schemas.of(schema) } } };
    const names = [...headers, ...more];
    const documented = names.map((name) => [name, this.#header(HEADERS[name] ?? Type.String())] as const);
    return { description, ...content, ...(names.length === 0 ? {} : { headers: Object.fromEntries(documented) }) };
  }

  #header(schemaWithDescription: TSchema): object {
    const { description, ...schema } = this.#schemas.of(schemaWithDescription) as { description?: string };
    return { description, schema };
  }
}

/** Authentication and authorization errors have the standard JSON form, unless the route is open. */
const isText = ({ access, errorsAs }: DescribedRoute, status: number): boolean =>
  errorsAs === 'text' && (access === 'open' || !ACCESS_ERRORS.includes(status));

/** Statuses of the errors that a route may answer with. */
function statusesOf(route: DescribedRoute): number[] {
  const statuses = [...errorCodesOf(route)].map((code) => KINDS[code].status);
  const always = route.availableAtStartup === true ? [INTERNAL.status] : [INTERNAL.status, STARTING_UP];
  return [...new Set([...statuses, ...always])];
}

/** The default messages of all errors with this status. */
function messagesOf(status: number): string {
  const messages = [INTERNAL, ...Object.values(KINDS)].filter((kind) => kind.status === status);
  return messages.map(({ message }) => message).join(', or ');
}

function errorCodesOf({ method, path, access, admit, reads, description }: DescribedRoute): Set<ErrorCode> {
  // Every route rejects a malformed query.
  const codes = new Set<ErrorCode>(['invalid-resource', ...(description.errors ?? [])]);
  if (access !== 'open' || admit !== undefined || description.credentials !== undefined) codes.add('unauthenticated');
  if (typeof access === 'object') codes.add('forbidden');
  if (parameterNames(path).length > 0) codes.add('not-found');
  if (reads !== 'nothing') codes.add('too-large');
  if (reads === 'merge-patch') codes.add('stale-revision');
  if (method !== 'GET') codes.add('store-unavailable').add('overloaded');
  return codes;
}
