import type { Answer } from '../request/route.ts';
import type { EarlierRequest } from './earlier-route.ts';

const JSON_TYPE = 'application/json';

/** An answer without a body. */
export const empty = (status: number): Answer => ({ status });

export const jsonOf = (status: number, value: unknown): Answer => ({
  status,
  type: JSON_TYPE,
  body: JSON.stringify(value),
});

/** Something accepted at a time, Unix seconds. */
export const acceptedAt = (issued: number): Answer => jsonOf(202, { issued });

/** One of several objects with the same name. */
export interface Choice {
  dc?: unknown;
}

/** A name that several datacenters have: the client repeats the request with one of them, to the address in `href`. */
export const multipleChoices = (request: Pick<EarlierRequest, 'path' | 'query'>, choices: readonly Choice[]): Answer =>
  jsonOf(
    300,
    choices.map((choice) => ({ ...choice, href: hrefOf(request, String(choice.dc)) })),
  );

function hrefOf({ path, query }: Pick<EarlierRequest, 'path' | 'query'>, dc: string): string {
  const parameters = new URLSearchParams([...query]);
  parameters.set('dc', dc);
  return `${path}?${parameters.toString()}`;
}
