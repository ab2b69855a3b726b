import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { Parser, ReadEntry } from 'tar';
import { FetchFailed } from './asset-failed.ts';

/** The bytes that are read, decompressed and parsed at a time. */
const STEP_BYTES = 16 * 1024;
/** The number of bytes that distinguish the formats. */
const HEAD_BYTES = 262;
const TAR_MAGIC_AT = 257;
const TAR_MAGIC = Buffer.from('ustar');
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** Formats that are refused by their names. */
const OTHER_FORMATS: readonly (readonly [name: string, magic: string])[] = [
  ['application/zip', '504b0304'],
  ['application/x-bzip2', '425a68'],
  ['application/x-xz', 'fd377a585a00'],
  ['application/x-7z-compressed', '377abcaf271c'],
  ['application/zstd', '28b52ffd'],
];

/** A part of an archive, in order: the header of an entry, a piece of its content, or its end. */
export type ArchivePart = { type: 'entry'; entry: ArchiveEntry } | { type: 'content'; bytes: Buffer } | { type: 'end' };

export interface ArchiveEntry {
  /** The name of the type in `tar`, for example `SymbolicLink`. */
  type: string;
  path: string;
  /** The target of a link. */
  linkPath: string | undefined;
  /** The permission bits with those of set-user-id, set-group-id and sticky. */
  mode: number;
  sizeBytes: number;
}

/** @throws FetchFailed unless the file begins as a tar archive or a compressed file does */
export async function formatOf(file: string): Promise<'tar' | 'gzip'> {
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head.length === 0) throw new FetchFailed('unable to read asset header: EOF');
    if (startsWith(head, GZIP_MAGIC)) return 'gzip';
    if (startsWith(head.subarray(TAR_MAGIC_AT), TAR_MAGIC)) return 'tar';
    const [other = ''] = OTHER_FORMATS.find(([, magic]) => startsWith(head, Buffer.from(magic, 'hex'))) ?? [];
    throw new FetchFailed(`given file of format '${other}' does not appear valid`);
  } finally {
    await handle.close();
  }
}

const startsWith = (bytes: Buffer, magic: Buffer): boolean => bytes.subarray(0, magic.length).equals(magic);

/**
 * Reads an archive in pieces and passes its parts, in lists, to `use`. It continues when `use` has resolved, so that
 * memory use does not grow with the archive. At most `maxBytes` of the decompressed archive are read.
 * @throws Error for a damaged archive, and for one that is longer
 */
export async function readArchive(
  file: string,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
  use: (parts: readonly ArchivePart[]) => Promise<void>,
): Promise<void> {
  const format = await formatOf(file);
  // Loaded when it is used, because most agents unpack nothing.
  const { Parser } = await import('tar');
  const parser = new PartParser(new Parser({ strict: true, zstd: false }));
  const source = createReadStream(file, { highWaterMark: STEP_BYTES, signal });
  const pieces = format === 'tar' ? source : source.pipe(createGunzip({ chunkSize: STEP_BYTES }));
  // An error of the source ends the reader too.
  source.on('error', (error) => pieces.destroy(error));
  try {
    await parseArchive(pieces as AsyncIterable<Buffer>, parser, maxBytes, use);
  } finally {
    source.destroy();
    pieces.destroy();
  }
}

async function parseArchive(
  pieces: AsyncIterable<Buffer>,
  parser: PartParser,
  maxBytes: number,
  use: (parts: readonly ArchivePart[]) => Promise<void>,
): Promise<void> {
  let bytes = 0;
  for await (const piece of pieces) {
    // The parser would decompress it once more, without a limit.
    if (bytes === 0 && startsWith(piece, GZIP_MAGIC)) throw new Error('the archive is compressed twice');
    bytes += piece.length;
    if (bytes > maxBytes) throw new Error(`the archive is longer than ${maxBytes} bytes when it is unpacked`);
    await use(parser.parts(piece));
    // The parser would keep what follows the end of the archive in memory.
    if (parser.isComplete) return;
  }
  await use(parser.end());
}

/** Collects what the parser emits for each piece of the archive. */
class PartParser {
  readonly #parser: Parser;
  #parts: ArchivePart[] = [];
  #error: Error | undefined;
  #isComplete = false;

  constructor(parser: Parser) {
    this.#parser = parser;
    this.#parser.on('entry', (entry: ReadEntry) => {
      this.#parts.push({ type: 'entry', entry: entryOf(entry) });
      entry.on('data', (bytes) => this.#parts.push({ type: 'content', bytes }));
      entry.on('end', () => this.#parts.push({ type: 'end' }));
    });
    this.#parser.on('ignoredEntry', ({ path, type }: ReadEntry) => {
      this.#error ??= new Error(`entry ${JSON.stringify(path)} has type ${type}, which is not supported`);
    });
    this.#parser.on('eof', () => (this.#isComplete = true));
    this.#parser.on('error', (error: Error) => (this.#error ??= error));
  }

  /** Whether the end of the archive was read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** @throws Error for a damaged archive */
  parts(piece: Buffer): ArchivePart[] {
    this.#parser.write(piece);
    return this.#take();
  }

  /** @throws Error for a truncated archive */
  end(): ArchivePart[] {
    this.#parser.end();
    return this.#take();
  }

  #take(): ArchivePart[] {
    if (this.#error !== undefined) throw this.#error;
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }
}

const entryOf = ({ type, path, linkpath, mode = 0o644, size }: ReadEntry): ArchiveEntry => ({
  type,
  path,
  linkPath: linkpath,
  mode,
  sizeBytes: size,
});
