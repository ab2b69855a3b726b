import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Host names that always mean this machine. */
const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', 'localhost.localdomain', 'ip6-localhost']);

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only programs on this machine can connect to a server that listens on this host. */
export const isLocalHost = (host: string): boolean =>
  isIP(host) === 0 ? LOCAL_NAMES.has(host.toLowerCase()) : loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');

/** The host of a `Host` header without its port and brackets, in lower case. */
function hostOf(header: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(header) ?? [];
  return (bracketed ?? plain ?? '').toLowerCase();
}

/**
 * Returns why a request seems to come from a web page; undefined for one that comes from a program. Otherwise any web
 * page could post events: browsers send its requests to local ports, and a page whose own host name resolves to this
 * machine could also read the answers. `ownNames` are the names of this machine; undefined when other machines may
 * connect, because these may use any name. Browsers set `Origin` when a page posts, so pages cannot post there either.
 */
export function browserRefusal(request: IncomingMessage, ownNames: readonly string[] | undefined): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined) return 'requests of web pages are refused: Origin is set';
  if (typeof site === 'string' && site !== 'none') return 'requests of web pages are refused: Sec-Fetch-Site is set';
  if (ownNames === undefined) return undefined;
  const name = hostOf(host ?? '');
  const isOwn =
    name === '' || isIP(name) !== 0 || LOCAL_NAMES.has(name) || ownNames.some((own) => own.toLowerCase() === name);
  return isOwn ? undefined : 'the header Host must name this machine';
}
