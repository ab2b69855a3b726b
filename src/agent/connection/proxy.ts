import { BlockList, isIP } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables for each protocol of a backend. A variable that is set but empty counts as unset. */
const VARIABLES: Record<string, readonly string[]> = {
  'ws:': ['HTTP_PROXY', 'http_proxy'],
  'wss:': ['HTTPS_PROXY', 'https_proxy'],
};
const EXCEPTIONS = ['NO_PROXY', 'no_proxy'];
const DEFAULT_PORTS: Record<string, string> = { 'ws:': '80', 'wss:': '443' };

/** A proxy of the environment that cannot be used. */
export class InvalidProxy extends Error {}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
const isWithin = (list: BlockList, address: string): boolean =>
  isIP(address) !== 0 && list.check(address, familyOf(address));

const setting = (environment: Environment, names: readonly string[]): [name: string, value: string] | undefined => {
  const name = names.find((each) => (environment[each] ?? '') !== '');
  return name === undefined ? undefined : [name, environment[name] ?? ''];
};

/** Removes the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

function subnetOf(network: string, prefix: string): BlockList | undefined {
  const list = new BlockList();
  try {
    list.addSubnet(network, Number(prefix), familyOf(network));
    return list;
  } catch {
    // Not a network: the item matches nothing, as an unknown name does.
    return undefined;
  }
}

/** Whether one item of `NO_PROXY` covers the host: `*`, an address, a network, a domain or `.domain`, with or without a port. */
function covers(item: string, host: string, port: string): boolean {
  if (item === '*') return true;
  const [, network, prefix] = /^([^/]+)\/(\d+)$/.exec(item) ?? [];
  if (network !== undefined && prefix !== undefined) {
    const subnet = subnetOf(network, prefix);
    return subnet !== undefined && isWithin(subnet, host);
  }
  const [, name = item, itemPort] = isIP(item) === 0 ? (/^(.*?)(?::(\d+))?$/.exec(item) ?? []) : [];
  if (itemPort !== undefined && itemPort !== port) return false;
  const wanted = bareHost(name).replace(/^\*\./, '.');
  if (isIP(wanted) !== 0) return wanted === host;
  return wanted.startsWith('.') ? host.endsWith(wanted) : host === wanted || host.endsWith(`.${wanted}`);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/** @throws InvalidProxy; the text never contains the value, which may have a password */
function parseProxy(name: string, value: string): URL {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) throw new InvalidProxy(`${name} is not a valid URL of a proxy`);
  const url = new URL(text);
  if (!isDecodable(url.username) || !isDecodable(url.password)) {
    throw new InvalidProxy(`${name} must have %25 for a percent sign in its user and password`);
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new InvalidProxy(`${name} must have http:// or https:// scheme, not ${url.protocol}//`);
}

/**
 * The proxy that the environment names for the URL of a backend. Undefined for none, for a host that `NO_PROXY` covers, and for this
 * machine itself. @throws InvalidProxy
 */
export function proxyFor(backendUrl: string, environment: Environment): URL | undefined {
  const { protocol, hostname, port } = new URL(backendUrl);
  const found = setting(environment, VARIABLES[protocol] ?? []);
  if (found === undefined) return undefined;
  const host = bareHost(hostname).toLowerCase();
  if (host === 'localhost' || isWithin(loopback, host)) return undefined;
  const [, exceptions = ''] = setting(environment, EXCEPTIONS) ?? [];
  const items = exceptions
    .toLowerCase()
    .split(',')
    .map((item) => item.trim());
  const portUsed = port || (DEFAULT_PORTS[protocol] ?? '');
  if (items.some((item) => item !== '' && covers(item, host, portUsed))) return undefined;
  return parseProxy(...found);
}
