const UNCLEAN = /\/\/|\/\.{1,2}(?:\/|$)/;
const MALFORMED_ESCAPE = /%(?![0-9a-f]{2})/i;

export const hasMalformedEscape = (path: string): boolean => path.includes('%') && MALFORMED_ESCAPE.test(path);

/** The path without empty, `.` and `..` segments, or undefined when it has none. A slash at the end stays. */
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
