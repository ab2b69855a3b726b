import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';

/** Headers of proxies. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
/** Credentials that a browser never adds by itself. */
const OWN_CREDENTIALS = /^(bearer|key)\b/i;
const JSON_TYPE = /^application\/json\b/i;

/**
 * Whether a page of another site can make a browser send this change without asking this server first: with a content type that forms can
 * send, and with credentials that the browser adds by itself. Any other change is preceded by a request `OPTIONS`.
 */
export function isForgeable(method: string, headers: IncomingHttpHeaders): boolean {
  const { host = '', origin, authorization = '', 'content-type': type = '' } = headers;
  if (method !== 'POST' || origin === undefined || isOwnOrigin(origin, host)) return false;
  return !JSON_TYPE.test(type) && !OWN_CREDENTIALS.test(authorization);
}

/** Whether a request from this machine may come from elsewhere: a proxy forwards requests of other machines, and a browser sends those of
 * web pages. */
export function isForwardedOrForeign(headers: IncomingHttpHeaders): boolean {
  const { host = '', origin } = headers;
  const isForwarded = FORWARDED.some((name) => headers[name] !== undefined);
  return isForwarded || !isOwnName(host) || (origin !== undefined && !isOwnOrigin(origin, host));
}

/** Whether a host is an address or a name without a domain, which no foreign name server can lead to this machine. */
function isOwnName(host: string): boolean {
  const name = nameIn(host);
  return /^[a-z0-9-]*$/.test(name) || name.endsWith('.localhost') || isIPv4(name) || /^\[[0-9a-f:.]+\]$/.test(name);
}

/** Whether a page has the host of the request or comes from this machine. The origin `null` is that of pages in a sandbox. */
function isOwnOrigin(origin: string, host: string): boolean {
  const [, from] = /^https?:\/\/(.+)$/.exec(origin) ?? [];
  if (from === undefined) return false;
  const name = nameIn(from);
  return name === nameIn(host) || name === 'localhost' || name.endsWith('.localhost') || isLoopback(bare(name));
}

/** The name of a host without its port. */
const nameIn = (host: string): string => host.replace(/:\d+$/, '').toLowerCase();

/** An IPv6 address without its brackets. */
const bare = (name: string): string => name.replace(/^\[(.*)\]$/, '$1');

export function isLoopback(address: string): boolean {
  const mapped = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return isIPv4(mapped) ? mapped.startsWith('127.') : mapped === '::1';
}
