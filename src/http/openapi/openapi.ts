import { ComponentResponses } from './responses.ts';
import { parameterNames, parametersOf, templateOf } from './parameters.ts';
import { PROSE, TAGS } from './prose.ts';
import { ComponentSchemas } from './schemas.ts';
import type { Route } from '../request/route.ts';

/** A route without its handler. */
export type DescribedRoute = Omit<Route, 'handle'>;

/** Describes the API as an OpenAPI 3.1 document. Source: spec.openapis.org/oas/v3.1.1 */
export function describeApi(routes: readonly DescribedRoute[], version: string): object {
  const schemas = new ComponentSchemas();
  const answers = new ComponentResponses(schemas);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    (paths[templateOf(route.path)] ??= {})[route.method.toLowerCase()] = operation(route, schemas, answers);
  }
  const tags = [...new Set(routes.map(tagOf))].toSorted();
  return {
    openapi: '3.1.1',
    info: {
      title: 'mon',
      version,
      summary: 'A monitoring service that never goes silent and can always explain its decisions',
      description: PROSE,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The backend that serves this document' }],
    tags: tags.map((name) => ({ name, description: TAGS[name] ?? `Operations on the resource \`${name}\`` })),
    paths,
    components: { schemas: schemas.all, responses: answers.all, securitySchemes: SCHEMES },
  };
}

const SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Access token from `GET /auth`' },
  key: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Key <key>`, with an API key' },
  basic: { type: 'http', scheme: 'basic', description: 'User name and password, for logging in only' },
};

const MEDIA_TYPES = {
  json: 'application/json',
  'optional-json': 'application/json',
  'json-array': 'application/json',
  'merge-patch': 'application/merge-patch+json',
  form: 'application/x-www-form-urlencoded',
};

function operation(route: DescribedRoute, schemas: ComponentSchemas, answers: ComponentResponses): object {
  const { summary } = route.description;
  return {
    operationId: idOf(route),
    tags: [tagOf(route)],
    summary,
    description: permissionFor(route),
    security: securityOf(route),
    parameters: parametersOf(route, schemas),
    ...bodyOf(route, schemas),
    responses: answers.of(route),
  };
}

function bodyOf({ reads, description: { body } }: DescribedRoute, schemas: ComponentSchemas): object {
  if (reads === 'nothing') return {};
  const schema = body === undefined ? { type: 'object' } : schemas.of(body);
  return {
    requestBody: {
      required: reads !== 'form' && reads !== 'optional-json',
      content: { [MEDIA_TYPES[reads]]: { schema } },
    },
  };
}

const tagOf = ({ access, description }: DescribedRoute): string =>
  description.tag ?? (typeof access === 'object' ? access.resource : access);

/** Derived from method and path, so it is stable while they are: `getCoreNamespacesByNamespaceChecks`. */
function idOf({ method, path }: DescribedRoute): string {
  const words = path
    .replace(/^\/api\/(\w+(?:\/\w+)??)\/v\d+/, '/$1')
    .replaceAll(':', 'by-')
    .split(/\W|_/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function permissionFor({ access, path }: DescribedRoute): string {
  if (access === 'open') return 'Requires no permission.';
  if (access === 'authenticated') return 'Requires authentication. The response contains only what the caller may see.';
  const { verb, resource, ownResource, nameFrom = [], namePrefix = '', namespaceFrom = 'namespace' } = access;
  if (resource === '') return `Requires permission to \`${verb}\` all resources (\`*\`).`;
  const name = nameFrom.map((word) => `{${word}}`).join('/');
  const named = name === '' ? '' : ` with the name \`${namePrefix}${name}\``;
  const where = parameterNames(path).includes(namespaceFrom) ? 'in the namespace' : 'cluster-wide';
  const own =
    ownResource === undefined
      ? ''
      : `; for the caller's own user, permission to \`${verb}\` \`${ownResource}\` is enough`;
  return `Requires permission to \`${verb}\` \`${resource}\`${named}, ${where}${own}.`;
}

function securityOf({ access, description: { credentials } }: DescribedRoute): object[] {
  const defaults = access === 'open' ? [] : ['bearer', 'key'];
  return (credentials ?? defaults).map((scheme) => ({ [scheme]: [] }));
}
