import type { IncomingMessage, RequestListener } from 'node:http';
import type { EarlierApi } from './earlier/earlier-api.ts';
import { prefersPage } from './request/preferred-type.ts';
import { normalizedPath } from './request/request-path.ts';

export interface DashboardPages {
  /** Answers every request that no API answers, also those for unknown paths. */
  callback: RequestListener;
  /** Whether the pages use this path too. A browser that opens it then gets the page, and all others the API. */
  hasPage(path: string): boolean;
}

export interface DashboardPorts {
  /** The REST API. */
  api: { callback: RequestListener };
  /** Undefined when this listener does not serve the API of the first generation. */
  earlierApi: EarlierApi | undefined;
  pages: DashboardPages;
}

/** The first segments of the paths of the REST API that this listener serves. */
const API_ROOTS = new Set(['api', 'auth', 'graphql', 'docs', 'openapi.json', 'version']);

/** Creates the listener of the dashboard: the pages, the REST API that they use, and the API of the first generation. */
export function dashboardListener({ api, earlierApi, pages }: DashboardPorts): RequestListener {
  return (request, response) => {
    const path = normalizedPath(request);
    const [, root = ''] = path.split('/', 2);
    if (API_ROOTS.has(root)) api.callback(request, response);
    else if (earlierApi?.serves(request) !== true || isForPage(request, path, pages)) pages.callback(request, response);
    else earlierApi.callback(request, response);
  };
}

const isForPage = ({ method, headers }: IncomingMessage, path: string, pages: DashboardPages): boolean =>
  method === 'GET' && prefersPage(headers.accept) && pages.hasPage(path);

const NOT_FOUND = JSON.stringify({ message: 'Not Found' });

/** The answer of a backend without pages. */
export const NO_PAGES: DashboardPages = {
  callback: (_, response) => {
    response.writeHead(404, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(NOT_FOUND) });
    response.end(NOT_FOUND);
  },
  hasPage: () => false,
};
