import { InvalidResource } from './errors.ts';

/** An address: four bytes, or sixteen for IPv6. An IPv6 address that contains an IPv4 address is that IPv4 address. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
}

/** The addresses that begin with the first `prefixBits` of `address`. */
export interface IpNetwork {
  readonly address: IpAddress;
  readonly prefixBits: number;
}

/** `any`: all addresses but the link-local ones. `public`: addresses of the internet. */
export type AllowedNetwork = 'any' | 'public' | IpNetwork;

const IPV4 = /^(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}$/;
const IPV6_GROUPS = 8;
const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** The first bytes of IPv6 addresses that lead to an IPv4 address, which follows them: mapped, compatible, NAT64, and 6to4. */
const IPV4_PREFIXES: readonly (readonly number[])[] = [
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0],
  [0x20, 0x02],
];

/** Returns the address without its zone; undefined for a text that is not an address. */
export function parseAddress(text: string): IpAddress | undefined {
  const bytes = ipv4Bytes(text);
  if (bytes !== undefined) return { family: 4, bytes };
  const own = ipv6Bytes(text.replace(/%[\w.-]+$/, ''));
  return own && reachedBy({ family: 6, bytes: own });
}

/** Parses `address/bits`, or an address alone. @throws InvalidResource with the rule */
export function parseNetwork(text: string): IpNetwork {
  const [, addressText = '', bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = ipv4Bytes(addressText) ?? ipv6Bytes(addressText);
  if (bytes === undefined) throw new InvalidResource(`${text} must be an address or a network such as 10.0.0.0/8`);
  const family = bytes.length * 8 === IPV4_BITS ? 4 : 6;
  const longest = family === 4 ? IPV4_BITS : IPV6_BITS;
  const prefixBits = Number(bitsText ?? longest);
  if (prefixBits > longest) throw new InvalidResource(`${text} must have a prefix of at most ${longest} bits`);
  const address = { family, bytes } as const;
  const reached = reachedBy(address);
  if (reached.family === family) return { address, prefixBits };
  if (prefixBits < longest) throw new InvalidResource(`${text} must be written as a network of IPv4`);
  return { address: reached, prefixBits: IPV4_BITS };
}

/** Parses `any`, `public`, a network or an address. @throws InvalidResource with the rule */
export const parseAllowedNetwork = (text: string): AllowedNetwork =>
  text === 'any' || text === 'public' ? text : parseNetwork(text);

/** Whether the address belongs to the network. An IPv4 address never belongs to an IPv6 network. */
export function networkContains({ address, prefixBits }: IpNetwork, { family, bytes }: IpAddress): boolean {
  if (family !== address.family) return false;
  return bytes.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefixBits - index * 8));
    const mask = (0xff << (8 - bits)) & 0xff;
    return (byte & mask) === ((address.bytes[index] ?? 0) & mask);
  });
}

function ipv4Bytes(text: string): number[] | undefined {
  if (!IPV4.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte <= 0xff) ? bytes : undefined;
}

function ipv6Bytes(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return undefined;
  const [head, tail] = halves.map(bytesOfGroups);
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = IPV6_GROUPS * 2 - head.length - (tail?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])];
}

/** Groups of up to four hexadecimal digits; the last one may be an IPv4 address. */
function bytesOfGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes = groups.map((group, index) => {
    if (index === groups.length - 1 && group.includes('.')) return ipv4Bytes(group);
    if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
  return bytes.some((pair) => pair === undefined) ? undefined : bytes.flatMap((pair) => pair ?? []);
}

/** The IPv4 address that packets to an IPv6 address reach, or the address itself. `::` and `::1` are addresses of their own. */
function reachedBy(address: IpAddress): IpAddress {
  const { bytes } = address;
  const prefix = IPV4_PREFIXES.find((known) => known.every((byte, index) => bytes[index] === byte));
  const embedded = prefix && bytes.slice(prefix.length, prefix.length + 4);
  if (embedded === undefined || (prefix?.[1] === 0 && isSmall(bytes))) return address;
  return { family: 4, bytes: embedded };
}

export const isSameAddress = (one: IpAddress, other: IpAddress): boolean =>
  one.family === other.family && one.bytes.every((byte, index) => byte === other.bytes[index]);

const isSmall = (bytes: readonly number[]): boolean => bytes.slice(0, -1).every((byte) => byte === 0);
