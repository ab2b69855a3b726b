import { type TSchema, Type } from 'typebox';
import type { ComponentSchemas } from './schemas.ts';
import type { Route } from '../request/route.ts';

const PARAMETER = /:(\w+)/g;
const resourceName = (description: string): TSchema => Type.String({ pattern: String.raw`^[\w.:-]+$`, description });

/** Path parameters by name; any other parameter is a resource name. */
const PATH_PARAMETERS: Readonly<Record<string, TSchema>> = {
  namespace: resourceName('Namespace'),
  name: resourceName('Name of the resource'),
  entity: resourceName('Name of an entity'),
  check: resourceName('Name of a check'),
  asset: Type.String({
    pattern: String.raw`^[\w/.:-]+$`,
    description: 'Name of an asset; write a slash in it as %2F',
  }),
  silence: Type.String({
    pattern: String.raw`^[\w.:*-]+$`,
    description: '`<subscription>:<check>`; `*` stands for all',
  }),
  subscription: Type.String({ pattern: String.raw`^[\w.:*-]+$`, description: 'Subscription, or `*`' }),
  silencedCheck: Type.String({ pattern: String.raw`^[\w.:*-]+$`, description: 'Name of a check, or `*`' }),
  group: Type.String({ minLength: 1, description: 'Group; any text' }),
  actor: Type.String({ description: 'Actor kind, as in the ledger' }),
  type: Type.String({
    description: 'Check result after which the hook runs: 0 to 255, ok, warning, critical, unknown or non-zero',
  }),
  memberId: Type.String({ description: 'Member id, hexadecimal' }),
  key: Type.String({ description: 'Actor key, as in the ledger; write a slash in it as %2F' }),
};

type Headers = Readonly<Record<string, TSchema>>;

const PATCH_CONDITIONS: Headers = {
  'If-Match': Type.String({
    description: 'Entity tags, or `*`. The request fails unless one of them is the current tag of the resource',
  }),
  'If-None-Match': Type.String({
    description: 'Entity tags, or `*`. The request fails if one of them is the current tag of the resource',
  }),
};
const READ_CONDITIONS: Headers = {
  'If-None-Match': Type.String({
    description: 'Entity tags of cached versions. The response is 304 if one of them is the current tag',
  }),
};

/** Converts a route path to an OpenAPI path template. */
export const templateOf = (path: string): string => path.replaceAll(PARAMETER, '{$1}');

export const parameterNames = (path: string): string[] => [...path.matchAll(PARAMETER)].map(([, name = '']) => name);

/** All parameters of a route: path, query and conditional headers. */
export function parametersOf({ path, reads, description }: Omit<Route, 'handle'>, schemas: ComponentSchemas): object[] {
  const conditions = reads === 'merge-patch' ? PATCH_CONDITIONS : 304 in description.answers ? READ_CONDITIONS : {};
  return [
    ...parameterNames(path).map((name) =>
      parameter('path', name, PATH_PARAMETERS[name] ?? resourceName(name), schemas),
    ),
    ...Object.entries(description.query ?? {}).map(([name, schema]) => parameter('query', name, schema, schemas)),
    ...Object.entries(conditions).map(([name, schema]) => parameter('header', name, schema, schemas)),
  ];
}

function parameter(where: 'path' | 'query' | 'header', name: string, documented: TSchema, schemas: ComponentSchemas) {
  const { description, ...schema } = schemas.of(documented) as { description?: string };
  return { name, in: where, required: where === 'path', description, schema };
}
