import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { manifestPath } from './manifest.ts';

/** The names of the backups that the commands make without a path, each with its time. */
const NAMES = {
  backup: /^backup-(\d{8}T\d{6}Z)\.mdb$/,
  upgrade: /^pre-\d+-\d+-(\d{8}T\d{6}Z)\.mdb$/,
};

/** Removes the backups of a command but the `keep` newest ones, with their manifests; 0 = none. Returns the paths of those removed. */
export function removeOldBackups(directory: string, command: keyof typeof NAMES, keep: number): string[] {
  if (keep === 0 || !existsSync(directory)) return [];
  const timeOf = (name: string): string => NAMES[command].exec(name)?.[1] ?? '';
  const names = readdirSync(directory).filter((name) => timeOf(name) !== '');
  const newestFirst = names.sort((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1));
  return newestFirst.slice(keep).map((name) => {
    const path = join(directory, name);
    for (const file of [path, manifestPath(path)]) rmSync(file, { force: true });
    return path;
  });
}
