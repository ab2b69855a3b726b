import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { taggedJson } from '../entity-tag.ts';
import { EMPTY } from '../openapi-rows.ts';
import type { Answer, AnswerType, Route } from '../route.ts';

export interface DocsRoutePorts {
  /** The OpenAPI document; asked for once. */
  document(): object;
}

const require = createRequire(import.meta.url);
const DOCUMENT = '/openapi.json';
const PAGE = '/docs';
const TAG = 'documentation';
const STYLE = 'swagger-ui.css';
const SCRIPT = 'swagger-ui-bundle.js';
const START = 'start.js';

/** Everything comes from here, and no script is written into the page. */
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

/** What the API is, for programs and for people; the page needs no other host. */
export function docsRoutes({ document }: DocsRoutePorts): Route[] {
  return [
    documentRow(document),
    pageRow(PAGE, 'a page that shows this document', 'text/html; charset=utf-8', () => PAGE_HTML),
    pageRow(`${PAGE}/${STYLE}`, 'its style', 'text/css; charset=utf-8', () => swaggerFile(STYLE)),
    pageRow(`${PAGE}/${SCRIPT}`, 'its script', 'text/javascript; charset=utf-8', () => swaggerFile(SCRIPT)),
    pageRow(`${PAGE}/${START}`, 'what starts its script', 'text/javascript; charset=utf-8', () => START_SCRIPT),
  ];
}

const swaggerFile = (name: string): Promise<string> =>
  readFile(join(dirname(require.resolve('swagger-ui-dist/package.json')), name), 'utf8');

function documentRow(document: DocsRoutePorts['document']): Route {
  let made: Answer | undefined;
  return {
    method: 'GET',
    path: DOCUMENT,
    access: 'open',
    reads: 'nothing',
    servesAtOnce: true,
    describes: {
      summary: 'Show this document',
      tag: TAG,
      answers: { 200: { schema: Type.Object({}), headers: ['ETag'] }, 304: EMPTY },
    },
    handle: () => (made ??= taggedJson(document())),
  };
}

function pageRow(path: string, what: string, type: AnswerType, body: () => string | Promise<string>): Route {
  const [mediaType = type] = type.split(';');
  return {
    method: 'GET',
    path,
    access: 'open',
    reads: 'nothing',
    servesAtOnce: true,
    describes: { summary: `Show ${what}`, tag: TAG, answers: { 200: { schema: Type.String(), type: mediaType } } },
    handle: async (): Promise<Answer> => ({ status: 200, type, body: await body(), headers: POLICY }),
  };
}
