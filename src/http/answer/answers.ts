import { stringifyExactly } from '../../wire/exact-json.ts';
import type { Answer } from '../request/route.ts';

const JSON_TYPE = 'application/json';

/** Created or replaced, with an empty body. */
export const CREATED: Answer = { status: 201, type: JSON_TYPE };
export const NO_CONTENT: Answer = { status: 204 };

export const json = (value: unknown): Answer => ({ status: 200, type: JSON_TYPE, body: stringifyExactly(value) });

export const text = (status: number, body: string): Answer => ({ status, type: 'text/plain; charset=utf-8', body });
