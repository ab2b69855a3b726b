import { type TSchema, Type } from 'typebox';
import type { ComponentSchemas } from './schemas.ts';
import type { Route } from '../request/route.ts';

const PARAMETER = /:(\w+)/g;
const name = (description: string): TSchema => Type.String({ pattern: String.raw`^[\w.:-]+$`, description });

/** Parameters of paths, by their word; any other is a name. */
const PATH_PARAMETERS: Readonly<Record<string, TSchema>> = {
  namespace: name('namespace'),
  name: name('name'),
  entity: name('name of an entity'),
  check: name('name of a check'),
  asset: Type.String({
    pattern: String.raw`^[\w/.:-]+$`,
    description: 'name of an asset; a slash in it is written %2F',
  }),
  silence: Type.String({ pattern: String.raw`^[\w.:*-]+$`, description: '`<subscription>:<check>`, with `*` for all' }),
  subscription: Type.String({ pattern: String.raw`^[\w.:*-]+$`, description: 'subscription, or `*`' }),
  silencedCheck: Type.String({ pattern: String.raw`^[\w.:*-]+$`, description: 'name of a check, or `*`' }),
  group: Type.String({ minLength: 1, description: 'group, any text' }),
  actor: Type.String({ description: 'kind of actor, as in the ledger' }),
  type: Type.String({
    description: 'result after which a hook runs: 0 to 255, ok, warning, critical, unknown or non-zero',
  }),
  memberId: Type.String({ description: 'id of a member, in hexadecimal' }),
  key: Type.String({ description: 'key of the actor, as in the ledger; a slash in it is written %2F' }),
};

type Headers = Readonly<Record<string, TSchema>>;

const OF_PATCHES: Headers = {
  'If-Match': Type.String({ description: 'tags, or `*`: one of them must be that of what is stored' }),
  'If-None-Match': Type.String({ description: 'tags, or `*`: none of them may be that of what is stored' }),
};
const OF_READERS: Headers = {
  'If-None-Match': Type.String({
    description: 'tags of what the client has: if one of them is still right, it is 304',
  }),
};

/** As the paths of a document are written. */
export const templateOf = (path: string): string => path.replaceAll(PARAMETER, '{$1}');

export const parameterNames = (path: string): string[] => [...path.matchAll(PARAMETER)].map(([, word = '']) => word);

/** Of its path, of its query, and its conditions. */
export function parametersOf({ path, reads, description }: Omit<Route, 'handle'>, schemas: ComponentSchemas): object[] {
  const conditions = reads === 'merge-patch' ? OF_PATCHES : 304 in description.answers ? OF_READERS : {};
  return [
    ...parameterNames(path).map((word) => parameter('path', word, PATH_PARAMETERS[word] ?? name(word), schemas)),
    ...Object.entries(description.query ?? {}).map(([word, schema]) => parameter('query', word, schema, schemas)),
    ...Object.entries(conditions).map(([word, schema]) => parameter('header', word, schema, schemas)),
  ];
}

function parameter(where: 'path' | 'query' | 'header', word: string, described: TSchema, schemas: ComponentSchemas) {
  const { description, ...schema } = schemas.of(described) as { description?: string };
  return { name: word, in: where, required: where === 'path', description, schema };
}
