import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { EMPTY } from '../openapi/descriptions.ts';
import type { Answer, AnswerType, Route } from '../request/route.ts';

export interface DocsRoutePorts {
  /** Builds the OpenAPI document; called once. */
  document(): object;
}

const require = createRequire(import.meta.url);
const DOCUMENT = '/openapi.json';
const PAGE = '/docs';
const TAG = 'documentation';
const STYLE = 'swagger-ui.css';
const SCRIPT = 'swagger-ui-bundle.js';
const START = 'start.js';
/** Agents that were started with this port log the text. */
const ROOT_TEXT = `This is the REST API, described at ${PAGE}. Agents connect to the agent port.\n`;
const TAG_HEX_DIGITS = 16;

/** Allows resources of this server only, and no inline script. */
const POLICY = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const PAGE_HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>The API of mon</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${PAGE}/${STYLE}" />
    <script src="${PAGE}/${SCRIPT}" defer></script>
    <script src="${PAGE}/${START}" defer></script>
  </head>
  <body>
    <div id="page">This page needs JavaScript; <a href="${DOCUMENT}">the document</a> does not.</div>
  </body>
</html>
`;

const START_SCRIPT = `SwaggerUIBundle({
  url: '${DOCUMENT}',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  validatorUrl: null,
});
`;

/** The API description, as JSON and as a page that loads nothing from other hosts. The root of the port redirects to the page. */
export function docsRoutes({ document }: DocsRoutePorts): Route[] {
  return [
    documentRoute(document),
    pageRoute(PAGE, 'this document as a web page', 'text/html; charset=utf-8', () => Buffer.from(PAGE_HTML)),
    pageRoute(`${PAGE}/${STYLE}`, 'the style sheet of that page', 'text/css; charset=utf-8', () => swaggerFile(STYLE)),
    pageRoute(`${PAGE}/${SCRIPT}`, 'the script of that page', 'text/javascript; charset=utf-8', () =>
      swaggerFile(SCRIPT),
    ),
    pageRoute(`${PAGE}/${START}`, 'the start script of that page', 'text/javascript; charset=utf-8', () =>
      Buffer.from(START_SCRIPT),
    ),
    rootRoute,
  ];
}

const rootRoute: Route = {
  method: 'GET',
  path: '/',
  access: 'open',
  reads: 'nothing',
  availableAtStartup: true,
  description: {
    summary: 'Redirect to the documentation page',
    tag: TAG,
    answers: { 302: { schema: Type.String(), type: 'text/plain', headers: ['Location'] } },
  },
  handle: () => ({ status: 302, type: 'text/plain; charset=utf-8', body: ROOT_TEXT, headers: { Location: PAGE } }),
};

const swaggerFile = (name: string): Buffer =>
  readFileSync(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));

function documentRoute(document: DocsRoutePorts['document']): Route {
  return {
    method: 'GET',
    path: DOCUMENT,
    access: 'open',
    reads: 'nothing',
    availableAtStartup: true,
    description: {
      summary: 'Show this document',
      tag: TAG,
      answers: { 200: { schema: Type.Object({}), headers: ['ETag'] }, 304: EMPTY },
    },
    handle: builtOnce('application/json', () => Buffer.from(JSON.stringify(document()))),
  };
}

function pageRoute(path: string, what: string, type: AnswerType, make: () => Buffer): Route {
  const [mediaType = type] = type.split(';');
  return {
    method: 'GET',
    path,
    access: 'open',
    reads: 'nothing',
    availableAtStartup: true,
    description: {
      summary: `Show ${what}`,
      tag: TAG,
      answers: { 200: { schema: Type.String(), type: mediaType, headers: ['ETag'] }, 304: EMPTY },
    },
    handle: builtOnce(type, make, POLICY),
  };
}

/** Builds the response at the first request and reuses it. The content is public, so its tag needs no key. */
function builtOnce(type: AnswerType, make: () => Buffer, headers: Answer['headers'] = {}): () => Answer {
  let made: Answer | undefined;
  return () => {
    if (made !== undefined) return made;
    const body = make();
    const tag = createHash('sha256').update(body).digest('hex').slice(0, TAG_HEX_DIGITS);
    return (made = { status: 200, type, body, headers: { ...headers, ETag: `"${tag}"` } });
  };
}
