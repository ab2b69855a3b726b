import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ROOT } from './throwaway-system.ts';

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  overrides?: Record<string, string>;
}

const MANIFEST = 'package.json';
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const manifestOf = (folder: string): Manifest => readJson(join(folder, MANIFEST)) as Manifest;

/** The folders of the packages that users need, as far as they are installed here: those for other systems are not. */
function installedFolders(): string[] {
  const { packages } = readJson(join(ROOT, 'package-lock.json')) as { packages: Record<string, { dev?: true }> };
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .map(([path]) => join(ROOT, path))
    .filter((folder) => existsSync(join(folder, MANIFEST)));
}

/** Creates placeholders of the packages that `overrides` removes here, because npm ignores the overrides of a tarball that it installs. */
function foldersOfOverridden(dependents: readonly Manifest[], directory: string): string[] {
  return Object.keys(manifestOf(ROOT).overrides ?? {}).flatMap((name) => {
    const range = dependents.find(({ dependencies = {} }) => name in dependencies)?.dependencies?.[name];
    if (range === undefined) return [];
    const folder = join(directory, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, MANIFEST), JSON.stringify({ name, version: range.replace(/^[=^~]/, '') }));
    return [folder];
  });
}

/** Serves an npm registry on 127.0.0.1 that has the installed packages. Makes further ones below `directory`. */
export async function servePackages(directory: string): Promise<{ url: string; stop(): void }> {
  const installed = installedFolders();
  const folders = [...installed, ...foldersOfOverridden(installed.map(manifestOf), directory)];
  const packages = folders.map((folder) => ({ folder, manifest: manifestOf(folder) }));
  const server = createServer((incoming, outgoing) => {
    const [name = '', version] = decodeURIComponent(incoming.url ?? '')
      .slice(1)
      .split('/-/');
    const found = packages.filter(({ manifest }) => manifest.name === name);
    if (version !== undefined) {
      const folder = found.find(({ manifest }) => manifest.version === version)?.folder ?? '';
      const options = ['-cz', '--exclude=./node_modules', '--transform', 's,^\\.,package,', '-C', folder, '.'];
      spawn('tar', options, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(outgoing);
      return;
    }
    const versions = found.map(({ manifest }) => {
      const tarball = `${url}/${encodeURIComponent(name)}/-/${manifest.version}`;
      return [manifest.version, { ...manifest, dist: { tarball } }] as const;
    });
    outgoing.writeHead(versions.length === 0 ? 404 : 200, { 'Content-Type': 'application/json' });
    const tags = { latest: versions.at(-1)?.[0] };
    outgoing.end(JSON.stringify({ name, 'dist-tags': tags, versions: Object.fromEntries(versions) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, stop: () => server.close() };
}
