import { readFile } from 'node:fs/promises';

const FILES = ['/proc/net/udp', '/proc/net/udp6'];

/**
 * Returns the datagrams for a port that the system dropped because its buffer was full. `table` is the text of `/proc/net/udp`: a
 * line for each socket, with the local address as `<hex>:<port in hex>` in the second column and the drops in the last one.
 */
export function dropsIn(table: string, port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let drops = 0;
  for (const line of table.split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/);
    if (columns[1]?.endsWith(wanted) === true) drops += Number(columns.at(-1));
  }
  return drops;
}

/** The drops since the socket was opened; 0 on systems that do not report it. */
export async function readUdpDrops(port: number): Promise<number> {
  const tables = await Promise.all(FILES.map((file) => readFile(file, 'latin1').catch(() => '')));
  return tables.reduce((sum, table) => sum + dropsIn(table, port), 0);
}
