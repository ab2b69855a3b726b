import { gzipSync } from 'node:zlib';

const BLOCK_BYTES = 512;

export interface ArchiveMember {
  path: string;
  /** The type flag of the header: 0 file, 1 hard link, 2 symbolic link, 3 and 4 devices, 5 directory, 6 pipe. */
  type?: string;
  mode?: number;
  link?: string;
  content?: string | Buffer;
  /** The size in the header, if it is not that of the content. */
  sizeBytes?: number;
}

/** A header of a tar archive, written by hand so that it can say anything. */
export function tarHeader({
  path,
  type = '0',
  mode = 0o644,
  link = '',
  content = '',
  sizeBytes,
}: ArchiveMember): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0, 100, 'utf8');
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\0'.repeat(2), 108);
  header.write(`${(sizeBytes ?? Buffer.byteLength(content)).toString(8).padStart(11, '0')} `, 124);
  header.write('14500000000 ', 136);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write(link, 157, 100, 'utf8');
  header.write('ustar\0' + '00', 257);
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function memberBytes(member: ArchiveMember): Buffer {
  const content = Buffer.from(member.content ?? '');
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return Buffer.concat([tarHeader(member), content, padding]);
}

/** A tar archive with its end. */
export const tarArchive = (members: readonly ArchiveMember[]): Buffer =>
  Buffer.concat([...members.map(memberBytes), Buffer.alloc(2 * BLOCK_BYTES)]);

export const tarGzArchive = (members: readonly ArchiveMember[]): Buffer => gzipSync(tarArchive(members));

/** An extended header of one record, for the next member. */
export function extendedHeader(name: string, value: string): ArchiveMember {
  const rest = ` ${name}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (String(length).length + Buffer.byteLength(rest) !== length) length += 1;
  return { path: 'extended', type: 'x', content: `${length}${rest}` };
}

/** A small asset with a tool that says `text` and its arguments. */
export const toolAsset = (text = 'good'): Buffer =>
  tarGzArchive([
    { path: './', type: '5', mode: 0o755 },
    { path: 'bin/', type: '5', mode: 0o755 },
    { path: 'bin/tool.sh', mode: 0o755, content: `#!/bin/sh\necho ${text} "$@"\n` },
  ]);
