import { readdir } from 'node:fs/promises';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { Interface } from './machine-info.ts';
import type { SystemTools } from './system-tools.ts';

const INTERFACES_DIR = '/sys/class/net';
const NO_MAC = '00:00:00:00:00:00';

/** The interfaces that have an address, as Node.js lists them. */
export const addressedInterfaces = (
  known: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): Map<string, Interface> =>
  new Map(
    Object.entries(known).map(([name, entries = []]) => {
      const mac = entries[0]?.mac.toLowerCase() ?? '';
      const addresses = entries.flatMap(({ cidr }) => (cidr === null ? [] : [cidr]));
      return [name, { name, mac: mac === NO_MAC ? '' : mac, addresses }];
    }),
  );

/** All interfaces in the order of the system, including those that are down or without an address. */
export async function linuxInterfaces({ readText }: SystemTools): Promise<Interface[]> {
  const addressed = addressedInterfaces();
  // A container may hide the directory.
  const present = await readdir(INTERFACES_DIR).catch(() => []);
  const names = [...new Set([...present, ...addressed.keys()])];
  const found = await Promise.all(
    names.map(async (name) => {
      const address = (await readText(`${INTERFACES_DIR}/${name}/address`))?.trim() ?? '';
      const mac = address === NO_MAC ? '' : address;
      const order = Number(await readText(`${INTERFACES_DIR}/${name}/ifindex`));
      return { order, shown: addressed.get(name) ?? { name, mac, addresses: [] } };
    }),
  );
  return found.toSorted((one, other) => one.order - other.order).map(({ shown }) => shown);
}
