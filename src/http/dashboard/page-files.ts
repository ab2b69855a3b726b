import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};
const TAG_HEX_DIGITS = 16;
/** The files that the build names after their content. */
const HASHED = '/assets/';

export type Encoding = 'br' | 'gzip';

export interface PageFile {
  type: string;
  body: Buffer;
  /** The compressed copies that the build made. */
  encoded: ReadonlyMap<Encoding, Buffer>;
  /** An entity tag, without its quotes. */
  tag: string;
  /** Whether the name changes with the content. */
  isHashed: boolean;
}

const COPIES: readonly (readonly [Encoding, string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** Reads the built pages, by path. They are small, and stay in memory. Empty when they were not built. */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  if (!existsSync(directory)) return new Map();
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES);
  return new Map(names.map((name) => [`/${name.split(sep).join('/')}`, fileAt(directory, name)]));
}

function fileAt(directory: string, name: string): PageFile {
  const file = join(directory, name);
  const body = readFileSync(file);
  const copies = COPIES.filter(([, extension]) => existsSync(file + extension));
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    body,
    encoded: new Map(copies.map(([encoding, extension]) => [encoding, readFileSync(file + extension)])),
    tag: createHash('sha256').update(body).digest('hex').slice(0, TAG_HEX_DIGITS),
    isHashed: `/${name.split(sep).join('/')}`.startsWith(HASHED),
  };
}
