import {
  type AllowedNetwork,
  type IpAddress,
  type IpNetwork,
  isSameAddress,
  networkContains,
  parseAddress,
  parseNetwork,
} from '../resources/ip-network.ts';

/** Addresses at which a machine in a cloud reads its own credentials: link-local ones, and those of some providers. */
const METADATA = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
].map(parseNetwork);

/** Networks that are not of the internet. Source: the IANA registries of special-purpose addresses. */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
].map(parseNetwork);

const IPV6_INTERNET = parseNetwork('2000::/3');

const isIn = (networks: readonly IpNetwork[], address: IpAddress): boolean =>
  networks.some((network) => networkContains(network, address));

const isPublic = (address: IpAddress): boolean =>
  (address.family === 4 || networkContains(IPV6_INTERNET, address)) && !isIn(NOT_PUBLIC, address);

const isListed = (allowed: readonly AllowedNetwork[], address: IpAddress): boolean =>
  allowed.some((entry) => typeof entry === 'object' && networkContains(entry, address));

/** An address and a port that a request reaches. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

export interface TargetRules {
  /** The operator's list; empty by default. */
  readonly allowed: readonly AllowedNetwork[];
  readonly isRedirect: boolean;
  /** The server that the URL of the asset itself has reached. */
  readonly reached: Target | undefined;
}

/**
 * Whether a request may reach the target. Without a list, the URL of an asset may lead anywhere but to metadata, and a redirect
 * only to the internet or to what the URL of the asset has reached. A list applies to both.
 */
export function mayReach(target: Target, { allowed, isRedirect, reached }: TargetRules): boolean {
  const address = parseAddress(target.address);
  if (address === undefined) return false;
  if (isListed(allowed, address)) return true;
  if (isIn(METADATA, address)) return false;
  if (allowed.length > 0) return allowed.includes('any') || (allowed.includes('public') && isPublic(address));
  return !isRedirect || isPublic(address) || (reached !== undefined && isSameServer(target, reached));
}

/** A server may also redirect from the port of HTTP to that of HTTPS. */
function isSameServer(target: Target, reached: Target): boolean {
  const [one, other] = [parseAddress(target.address), parseAddress(reached.address)];
  if (one === undefined || other === undefined || !isSameAddress(one, other)) return false;
  return target.port === reached.port || (reached.port === HTTP_PORT && target.port === HTTPS_PORT);
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
