import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { extendedHeader, tarArchive, tarHeader, toolAsset } from '../assets/archive-builder.ts';
import { AssetInstallation } from '../assets/asset-installation.ts';
import { sha512Of } from '../assets/asset-server.ts';
import { InstallProcess } from '../assets/install-process.ts';
import type { Installed } from '../assets/install-program.ts';
import { perTest } from '../support/fixture.ts';

const GIB = 2 ** 30;
const ZEROS_BYTES = 16 * 2 ** 20;
const ENTRIES = 1_000_000;
const ENTRIES_AT_ONCE = 10_000;
/** Entries with a name of their own: more than may be unpacked. They are repeated up to a million. */
const NAMES = 200_000;
const MAX_GROWTH_MB = 64;
/** An asset that is installed before, so that only the memory of the hostile one counts. */
const FIRST = toolAsset();

/** Pieces of a compressed archive; gzip allows to join them. */
type Pieces = readonly Buffer[];

/** 10 GB of zeros, compressed to 10 MB: behind a header, or in pieces that each have one. */
function bombOf(header: Buffer, headerOf = (_piece: number): Buffer => Buffer.alloc(0)): Pieces {
  const zeros = gzipSync(Buffer.alloc(ZEROS_BYTES), { level: 9 });
  const pieces = Array.from({ length: (10 * GIB) / ZEROS_BYTES }, (_, n) =>
    Buffer.concat([gzipSync(headerOf(n)), zeros]),
  );
  return [gzipSync(header), ...pieces];
}

const DIGITS = 7;
const TEMPLATE = tarHeader({ path: `files/${'0'.repeat(DIGITS)}` });
const TEMPLATE_SUM = Number.parseInt(TEMPLATE.toString('latin1', 148, 154), 8);

/** The header of an empty file. It is made faster than others are, because many are needed. */
function numberedHeader(n: number): Buffer {
  const header = Buffer.from(TEMPLATE);
  const digits = String(n).padStart(DIGITS, '0');
  header.write(digits, 'files/'.length, 'latin1');
  let sum = TEMPLATE_SUM;
  for (const digit of digits) sum += Number(digit);
  header.write(sum.toString(8).padStart(6, '0'), 148, 'latin1');
  return header;
}

describe('A3: a hostile archive', function () {
  this.timeout(120_000);
  const installation = perTest(() => AssetInstallation.start());

  /** Lets a process of its own install the archive. */
  async function installed(pieces: Pieces): Promise<Installed> {
    const { server, cacheDir } = installation;
    const hash = createHash('sha512');
    for (const piece of pieces) hash.update(piece);
    server.serve('/a', (_request, response) => void sendAll(response, pieces));
    server.serve('/first', FIRST);
    const first = { url: server.url('/first'), sha512: sha512Of(FIRST) };
    const url = server.url('/a');
    const result = await new InstallProcess({ cacheDir, url, sha512: hash.digest('hex'), first }).result;
    if (result === undefined) throw new Error('the process ended without a result');
    return result;
  }

  async function expectRefused(pieces: Pieces, rule: RegExp): Promise<void> {
    const { reason, grownMb } = await installed(pieces);
    expect(reason)
      .to.match(/^error extracting asset: /)
      .and.to.match(rule);
    expect(grownMb).to.be.below(MAX_GROWTH_MB);
    expect(await readdir(installation.cacheDir)).to.have.members(['assets.db', sha512Of(FIRST)]);
    expect(await readdir(installation.outside)).to.deep.equal(['cache']);
  }

  it('of 10 GB in one file is refused with at most 64 MB of memory', async () => {
    const size = extendedHeader('size', String(10 * GIB));
    const header = Buffer.concat([tarArchive([size]).subarray(0, 1_024), tarHeader({ path: 'zeros', sizeBytes: 0 })]);
    await expectRefused(bombOf(header), /"zeros" and those before it have more than 1073741824 bytes/);
  });

  it('of 10 GB in many files is refused with at most 64 MB of memory', async () => {
    const bomb = bombOf(Buffer.alloc(0), (n) => tarHeader({ path: `zeros-${n}`, sizeBytes: ZEROS_BYTES }));
    await expectRefused(bomb, /1073741824 bytes/);
  });

  it('of 10 GB behind its end is unpacked without them', async () => {
    const { directory = '', grownMb } = await installed(bombOf(tarArchive([{ path: 'a' }])));
    expect(await readdir(directory)).to.deep.equal(['a']);
    expect(grownMb).to.be.below(MAX_GROWTH_MB);
  });

  it('of a million entries is refused with at most 64 MB of memory', async () => {
    const pieces: Buffer[] = [];
    for (let first = 0; first < NAMES; first += ENTRIES_AT_ONCE) {
      const headers = Array.from({ length: ENTRIES_AT_ONCE }, (_, n) => numberedHeader(first + n));
      pieces.push(gzipSync(Buffer.concat(headers), { level: 1 }));
    }
    const million = Array.from({ length: ENTRIES / NAMES }, () => pieces).flat();
    await expectRefused(million, /is one of more than 100000 entries/);
  });

  it('of a million directories in few entries is refused with at most 64 MB of memory', async () => {
    const deep = Array.from({ length: 2_500 }, (_, n) => extendedHeader('path', `${n}/${'d/'.repeat(400)}x`));
    const members = deep.flatMap((header) => [header, { path: 'x' }]);
    await expectRefused([gzipSync(tarArchive(members))], /more than 100000 entries|too long names/);
  });

  it('of 2,000 small files is unpacked with at most 64 MB of memory', async () => {
    const members = Array.from({ length: 2_000 }, (_, n) => ({
      path: `lib/${n % 100}/${'name'.repeat(10)}-${n}`,
      content: 'x',
    }));
    const { directory, reason, grownMb } = await installed([gzipSync(tarArchive(members))]);
    expect(reason).to.equal(undefined);
    expect(await readdir(`${directory}/lib`)).to.have.length(100);
    expect(grownMb).to.be.below(MAX_GROWTH_MB);
  });
});

async function sendAll(response: ServerResponse, pieces: Pieces): Promise<void> {
  for (const piece of pieces) if (!response.write(piece)) await once(response, 'drain');
  response.end();
}
