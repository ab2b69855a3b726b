import type { Interface } from './machine-info.ts';

/** Returns the number of leading ones in a mask like `0xffffff00`. */
const prefixOf = (mask: string): number => Number(mask).toString(2).replaceAll('0', '').length;

function addressIn(line: string): string | undefined {
  const [, inet, mask] = /^\s+inet (\d[\d.]*) .*?netmask (0x[\da-f]+)/i.exec(line) ?? [];
  if (inet !== undefined && mask !== undefined) return `${inet}/${prefixOf(mask)}`;
  const [, inet6, prefix] = /^\s+inet6 ([\da-f:.]+)(?:%\S+)? .*?prefixlen (\d+)/i.exec(line) ?? [];
  return inet6 === undefined || prefix === undefined ? undefined : `${inet6}/${prefix}`;
}

/** Parses the output of `ifconfig -a` of macOS and the BSD systems. */
export function interfacesIn(output: string): Interface[] {
  const found: Interface[] = [];
  for (const line of output.split('\n')) {
    const [, name] = /^([^\s:]+): flags=/.exec(line) ?? [];
    if (name !== undefined) found.push({ name, mac: '', addresses: [] });
    const current = found.at(-1);
    if (current === undefined) continue;
    const [, mac] = /^\s+ether ([\da-f:]{17})/i.exec(line) ?? [];
    if (mac !== undefined) current.mac = mac.toLowerCase();
    const address = addressIn(line);
    if (address !== undefined) current.addresses.push(address);
  }
  return found;
}
