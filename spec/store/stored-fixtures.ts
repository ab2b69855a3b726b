import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { START_MS } from '../support/restartable-backend.ts';

const DIRECTORY = fileURLToPath(new URL('fixtures/', import.meta.url));

export interface StoredFixture {
  /** The commit that wrote the fixture, and the time. */
  name: string;
  /** Its store version. */
  version: number;
}

/** The store versions by the commits that wrote them. */
const VERSIONS = { '862c634': 2, b5da680: 3, be03523: 4, '7a80e53': 5, '308076a': 6 };

export const FIXTURES: readonly StoredFixture[] = Object.entries(VERSIONS).flatMap(([commit, version]) =>
  ['killed', 'stopped'].map((moment) => ({ name: `${commit}-${moment}`, version })),
);

/** The time of the test clock when the fixtures were copied, in Unix ms. */
export const FIXTURE_MS = START_MS + 37_000;
/** How long the backend was down, and how long it ran then, for `FixtureReplay`. */
export const DOWN_MS = 60_000;
export const REPLAY_MS = 420_000;

/** What the backend of the fixture's own commit did when it started on the fixture. */
export interface FixtureReplay {
  decided: { atMs: number; actor: string; key: string; event: string; to: string | null }[];
  notified: { key: string; id: string; handler: string; outcome: string; decidedAtMs: number }[];
}

/** Writes the fixture into a directory as a store. */
export function unpackFixture({ name }: StoredFixture, directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'data.mdb'), gunzipSync(readFileSync(join(DIRECTORY, `${name}.mdb.gz`))));
}

export const replayOf = ({ name }: StoredFixture): FixtureReplay =>
  JSON.parse(readFileSync(join(DIRECTORY, `${name}.json`), 'utf8')) as FixtureReplay;
