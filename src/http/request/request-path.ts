import type { IncomingMessage } from 'node:http';

const UNCLEAN = /\/\/|\/\.{1,2}(?:\/|$)/;
const MALFORMED_ESCAPE = /%(?![0-9a-f]{2})/i;
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]+)/i;

/** The path of a request, without its query. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const questionMark = url.indexOf('?');
  return questionMark < 0 ? url : url.slice(0, questionMark);
}

/** Splits a request target into path with query, and the authority of an absolute-form target. */
export function originForm(target: string): { target: string; authority: string | undefined } {
  if (target.startsWith('/')) return { target, authority: undefined };
  const [prefix = '', authority] = ABSOLUTE_FORM.exec(target) ?? [];
  const rest = target.slice(prefix.length);
  return { target: rest.startsWith('/') || authority === undefined ? rest : `/${rest}`, authority };
}

/**
 * Returns the path of a request, and replaces a target with a host, as it is sent to a proxy, by the path and the header. Source:
 * RFC 9112, 3.2.2.
 */
export function normalizedPath(request: IncomingMessage): string {
  const { target, authority } = originForm(request.url ?? '/');
  request.url = target;
  if (authority !== undefined) request.headers.host = authority;
  return pathOf(request);
}

export const hasMalformedEscape = (path: string): boolean => path.includes('%') && MALFORMED_ESCAPE.test(path);

/** Whether the escapes are valid UTF-8; otherwise the path cannot be decoded. */
export function isText(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/** The path without empty, `.` and `..` segments, or undefined when it has none. A trailing slash is kept. */
export function cleanedPath(path: string): string | undefined {
  if (!UNCLEAN.test(path)) return undefined;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const cleaned = `/${segments.join('/')}`;
  return path.endsWith('/') && segments.length > 0 ? `${cleaned}/` : cleaned;
}
