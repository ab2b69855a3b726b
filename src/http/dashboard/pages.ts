import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { conditionsOf, ifNoneMatchIncludes } from '../request/conditions.ts';
import { pathOf } from '../request/request-path.ts';
import { INSPECT_PATH } from '../upgrade/paths.ts';
import { type Encoding, type PageFile, readPageFiles } from './page-files.ts';

/** Allows only what this origin serves, and no inline code; scripts cannot turn text into markup. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
/** The page that gives messages of the inspector to a hosted one may load that one, in a frame, and nothing else from elsewhere. */
const BRIDGE_HEADERS = {
  ...HEADERS,
  'Content-Security-Policy': `${HEADERS['Content-Security-Policy']}; frame-src https://stately.ai`,
};
const INDEX = '/index.html';
const BRIDGE = '/bridge.html';
/** The first segments of the addresses of views. The script of the page shows them. */
const VIEWS: ReadonlySet<string> = new Set(['', 'n', 'machines', 'ledger', 'users', 'settings', 'inspect']);
const NOT_FOUND = JSON.stringify({ message: 'Not Found' });
const METHODS = 'GET, HEAD';
const YEAR_S = 31_536_000;

export interface Pages {
  callback: RequestListener;
  /** Whether a view has the path. */
  hasPage(path: string): boolean;
}

export interface PagesOptions {
  /** Whether the inspector is on, and with it the page that gives its messages to a hosted one. */
  inspect: boolean;
}

/** Serves the built dashboard of a directory. Undefined when it was not built. */
export function openPages(directory: string, { inspect }: PagesOptions): Pages | undefined {
  const files = readPageFiles(directory);
  const index = files.get(INDEX);
  if (index === undefined) return undefined;
  const hasPage = (path: string): boolean => VIEWS.has(path.split('/', 2)[1] ?? '');
  return {
    hasPage,
    callback: (request, response) => {
      const asked = pathOf(request);
      const isBridge = asked === INSPECT_PATH && inspect;
      const path = isBridge ? BRIDGE : asked;
      const file = asked === BRIDGE ? undefined : (files.get(path) ?? (hasPage(path) ? index : undefined));
      if (file === undefined) answer(request, response, 404, 'application/json', Buffer.from(NOT_FOUND));
      else if (request.method === 'GET' || request.method === 'HEAD')
        sendFile(request, response, file, isBridge ? BRIDGE_HEADERS : HEADERS);
      else {
        response.setHeader('Allow', METHODS);
        answer(request, response, 405, 'text/plain; charset=utf-8', Buffer.alloc(0));
      }
    },
  };
}

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: PageFile,
  headers: Readonly<Record<string, string>>,
): void {
  const encoding = encodingFor(request.headers['accept-encoding'] ?? '', file);
  const body = (encoding && file.encoded.get(encoding)) ?? file.body;
  const tag = `"${file.tag}${encoding === undefined ? '' : `-${encoding}`}"`;
  response.setHeader('ETag', tag);
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('Cache-Control', file.isHashed ? `public, max-age=${YEAR_S}, immutable` : 'no-cache');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (ifNoneMatchIncludes(conditionsOf(request.headers), tag)) {
    response.writeHead(304).end();
    return;
  }
  if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
  answer(request, response, 200, file.type, body);
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, type: string, body: Buffer): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** The best encoding that the client accepts and the file has. */
function encodingFor(accepted: string, { encoded }: PageFile): Encoding | undefined {
  const names = new Set(
    accepted
      .split(',')
      .map((part) => part.trim().toLowerCase().split(';'))
      .filter(([, weight = 'q=1']) => !/^\s*q=0(\.0*)?$/.test(weight))
      .map(([name = '']) => name),
  );
  return [...encoded.keys()].find((encoding) => names.has(encoding));
}
