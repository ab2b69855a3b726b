import { type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../resources/errors.ts';
import type { DescribedAnswer, Description } from '../request/route.ts';

/** What most rows say of themselves, by what they do to `what`. */

type Query = NonNullable<Description['query']>;

export const EMPTY: DescribedAnswer = {};
export const TEXT: DescribedAnswer = { schema: Type.String(), type: 'text/plain' };

/** Which page of a list. */
export const PAGE: Query = {
  limit: Type.Integer({ minimum: 0, description: 'longest page; 0 = no limit' }),
  continue: Type.String({ description: 'the header `Sensu-Continue` of the page before' }),
};

/** Which items of a list. */
export const SELECTORS: Query = {
  fieldSelector: Type.String({
    description: "`<field> ==|!=|matches <value>`, `<field> in|notin [<value>, ...]`, joined by `&&`; '' selects all",
  }),
  labelSelector: Type.String({ description: 'the same of labels' }),
};

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Page by page, unless its query is told. */
export function lists(what: string, item: TSchema, query: Query = { ...PAGE, ...SELECTORS }): Description {
  const schema = Type.Array(item);
  const answer: DescribedAnswer = 'continue' in query ? { schema, headers: ['Sensu-Continue'] } : { schema };
  return { summary: `List ${what}`, query, answers: { 200: answer } };
}

/** Also to a client that still has it, as `If-None-Match` says. */
export const showsUncached = (what: string, schema: TSchema): Description => ({
  summary: `Show ${what}`,
  answers: { 200: { schema, headers: ['ETag'] } },
});

/** Whoever still has it is told so in place of it. */
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

/** `shown` is what it is answered with. */
export const patches = (what: string, body: TSchema, shown: TSchema = body): Description => ({
  summary: `Change ${what}`,
  body,
  answers: { 200: { schema: shown, headers: ['ETag'] } },
});

export const deletes = (what: string): Description => ({ summary: `Delete ${what}`, answers: { 204: EMPTY } });

/** Where it echoes what was written, and more may be refused. */
export const withEcho = (described: Description, schema: TSchema, errors: readonly ErrorCode[]): Description => ({
  ...described,
  answers: { 200: { schema } },
  errors: [...(described.errors ?? []), ...errors],
});
