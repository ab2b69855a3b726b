import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../resources/errors.ts';
import type { DescribedAnswer, Description } from '../request/route.ts';

/** Descriptions shared by most routes, by the operation on `what`. */

type Query = NonNullable<Description['query']>;

export const EMPTY: DescribedAnswer = {};
export const TEXT: DescribedAnswer = { schema: Type.String(), type: 'text/plain' };

/** Pagination parameters of a list. */
export const PAGE: Query = {
  limit: Type.Integer({ minimum: 0, description: 'Maximum number of items in a page; 0 means no limit' }),
  continue: Type.String({ description: 'Value of the header `Sensu-Continue` of the previous page' }),
};

/** Filter parameters of a list. */
export const SELECTORS: Query = {
  fieldSelector: Type.String({
    description:
      '`<field> ==|!=|matches <value>`, `<field> in|notin [<value>, ...]`, joined by `&&`; an empty selector selects everything',
  }),
  labelSelector: Type.String({ description: 'Like `fieldSelector`, but selects by labels' }),
};

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A list, paginated and filtered unless `query` says otherwise. */
export function lists(what: string, item: TSchema, query: Query = { ...PAGE, ...SELECTORS }): Description {
  const schema = Type.Array(item);
  const answer: DescribedAnswer = 'continue' in query ? { schema, headers: ['Sensu-Continue'] } : { schema };
  return { summary: `List ${what}`, query, answers: { 200: answer } };
}

/** One resource, for a route that never answers 304. */
export const showsUncached = (what: string, schema: TSchema): Description => ({
  summary: `Show ${what}`,
  answers: { 200: { schema, headers: ['ETag'] } },
});

/** One resource, for a route that answers 304 to a client with the current version. */
export function shows(what: string, schema: TSchema): Description {
  const { answers, ...described } = showsUncached(what, schema);
  return { ...described, answers: { ...answers, 304: EMPTY } };
}

export const creates = (what: string, body: TSchema): Description => ({
  summary: `Create ${what}`,
  body,
  answers: { 201: EMPTY },
  errors: ['already-exists'],
});

export const replaces = (what: string, body: TSchema): Description => ({
  summary: `Create or replace ${what}`,
  body,
  answers: { 201: EMPTY },
});

/** `shown` is the schema of the response. */
export const patches = (what: string, body: TSchema, shown: TSchema = body): Description => ({
  summary: `Change ${what}`,
  body,
  answers: { 200: { schema: shown, headers: ['ETag'] } },
});

export const deletes = (what: string): Description => ({ summary: `Delete ${what}`, answers: { 204: EMPTY } });

/** A write that returns the written resource and may fail with further errors. */
export const withEcho = (described: Description, schema: TSchema, errors: readonly ErrorCode[]): Description => ({
  ...described,
  answers: { 200: { schema } },
  errors: [...(described.errors ?? []), ...errors],
});
