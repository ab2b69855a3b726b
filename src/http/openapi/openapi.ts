import { ComponentResponses } from './responses.ts';
import { parameterNames, parametersOf, templateOf } from './parameters.ts';
import { PROSE, TAGS } from './prose.ts';
import { ComponentSchemas } from './schemas.ts';
import type { Route } from '../request/route.ts';

/** A row without what it does. */
export type DescribedRoute = Omit<Route, 'handle'>;

/** The API as an OpenAPI 3.1 document. Source: spec.openapis.org/oas/v3.1.1 */
export function describeApi(rows: readonly DescribedRoute[], version: string): object {
  const schemas = new ComponentSchemas();
  const answers = new ComponentResponses(schemas);
  const paths: Record<string, Record<string, object>> = {};
  for (const row of rows) {
    (paths[templateOf(row.path)] ??= {})[row.method.toLowerCase()] = operation(row, schemas, answers);
  }
  const tags = [...new Set(rows.map(tagOf))].toSorted();
  return {
    openapi: '3.1.1',
    info: {
      title: 'mon',
      version,
      summary: 'A monitoring service that never goes silent and can always say why',
      description: PROSE,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'the backend that this document is from' }],
    tags: tags.map((name) => ({ name, description: TAGS[name] ?? `resource \`${name}\` of roles` })),
    paths,
    components: { schemas: schemas.all, responses: answers.all, securitySchemes: SCHEMES },
  };
}

const SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'an access token' },
  key: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Key <key>`, of an API key' },
  basic: { type: 'http', scheme: 'basic', description: 'user and password, for a login only' },
};

const MEDIA_TYPES = {
  json: 'application/json',
  'json-array': 'application/json',
  'merge-patch': 'application/merge-patch+json',
  form: 'application/x-www-form-urlencoded',
};

function operation(row: DescribedRoute, schemas: ComponentSchemas, answers: ComponentResponses): object {
  const { summary } = row.description;
  return {
    operationId: idOf(row),
    tags: [tagOf(row)],
    summary,
    description: rightFor(row),
    security: securityOf(row),
    parameters: parametersOf(row, schemas),
    ...bodyOf(row, schemas),
    responses: answers.of(row),
  };
}

function bodyOf({ reads, description: { body } }: DescribedRoute, schemas: ComponentSchemas): object {
  if (reads === 'nothing') return {};
  const schema = body === undefined ? { type: 'object' } : schemas.of(body);
  return {
    requestBody: {
      required: reads !== 'form',
      content: { [MEDIA_TYPES[reads]]: { schema } },
    },
  };
}

const tagOf = ({ access, description }: DescribedRoute): string =>
  description.tag ?? (typeof access === 'object' ? access.resource : access);

/** As its method and path are, so that it stays while they do: `getCoreNamespacesByNamespaceChecks`. */
function idOf({ method, path }: DescribedRoute): string {
  const words = path
    .replace(/^\/api\/(\w+)\/v\d+/, '/$1')
    .replaceAll(':', 'by-')
    .split(/\W|_/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function rightFor({ access, path }: DescribedRoute): string {
  if (access === 'open') return 'Needs no right.';
  if (access === 'authenticated') return 'For everybody who is logged in; each is shown what he may see.';
  const { verb, resource, ownResource, nameFrom = [], namePrefix = '', namespaceFrom = 'namespace' } = access;
  if (resource === '') return `Needs the right to \`${verb}\` everything (\`*\`).`;
  const name = nameFrom.map((word) => `{${word}}`).join('/');
  const named = name === '' ? '' : ` under the name \`${namePrefix}${name}\``;
  const where = parameterNames(path).includes(namespaceFrom) ? 'in the namespace' : 'in all of the cluster';
  const own = ownResource === undefined ? '' : `; for oneself, to \`${verb}\` \`${ownResource}\``;
  return `Needs the right to \`${verb}\` \`${resource}\`${named}, ${where}${own}.`;
}

function securityOf({ access, description: { credentials } }: DescribedRoute): object[] {
  const usual = access === 'open' ? [] : ['bearer', 'key'];
  return (credentials ?? usual).map((scheme) => ({ [scheme]: [] }));
}
