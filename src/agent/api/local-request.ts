import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Host names that always mean this machine. */
const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', 'localhost.localdomain', 'ip6-localhost']);

/** The host of a `Host` header without its port and brackets, in lower case. */
function hostOf(header: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(header) ?? [];
  return (bracketed ?? plain ?? '').toLowerCase();
}

/**
 * Why a request is not from a program but from a page in a browser, or undefined. A page of a stranger could otherwise post events:
 * browsers send its requests to local ports, and a name of its own that resolves to this machine makes the answers readable to it.
 * `ownNames` are the name of this machine and the configured host.
 */
export function browserRefusal(request: IncomingMessage, ownNames: readonly string[]): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined) return 'requests of web pages are refused: Origin is set';
  if (typeof site === 'string' && site !== 'none') return 'requests of web pages are refused: Sec-Fetch-Site is set';
  const name = hostOf(host ?? '');
  const isOwn =
    name === '' || isIP(name) !== 0 || LOCAL_NAMES.has(name) || ownNames.some((own) => own.toLowerCase() === name);
  return isOwn ? undefined : 'the header Host must name this machine';
}
