import type { ArchiveEntry } from './archive-entries.ts';
import { ArchiveTree } from './archive-tree.ts';
import { InvalidArchive } from './invalid-archive.ts';

/** The decompressed archive, with its headers. */
export const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;

const FILE_TYPES = new Set(['File', 'OldFile', 'ContiguousFile']);
const SET_ID_BITS = 0o6000;
const PERMISSION_BITS = 0o777;
/** The owner must be able to write a file to the disk and to remove it. */
const OWNER_BITS = 0o600;

/** The file, directory or link that an entry creates, below the directory of the archive. The directories come first. */
export type ArchiveStep = { directories: readonly string[] } & (
  | { type: 'directory' }
  | { type: 'file'; path: string; mode: number }
  | { type: 'symbolic-link' | 'hard-link'; path: string; target: string }
);

/** Decides what each entry of an archive creates, and refuses types of entries that no asset needs. */
export class ArchivePlan {
  readonly #tree = new ArchiveTree();
  #announcedBytes = 0;

  /** @throws InvalidArchive */
  add({ type, path, mode, linkPath = '', sizeBytes }: ArchiveEntry): ArchiveStep {
    this.#announcedBytes += sizeBytes;
    if (!(this.#announcedBytes <= MAX_UNPACKED_BYTES)) {
      throw new InvalidArchive(path, `and those before it have more than ${MAX_UNPACKED_BYTES} bytes`);
    }
    if (type === 'Directory') return { type: 'directory', directories: this.#tree.addDirectory(path) };
    if (type === 'SymbolicLink') {
      return { type: 'symbolic-link', ...this.#tree.addSymbolicLink(path, linkPath), target: linkPath };
    }
    if (type === 'Link') return { type: 'hard-link', ...this.#tree.addHardLink(path, linkPath) };
    if (!FILE_TYPES.has(type)) throw new InvalidArchive(path, `has type ${type}, which is not supported`);
    if ((mode & SET_ID_BITS) !== 0) throw new InvalidArchive(path, 'has a set-user-id or set-group-id bit');
    return { type: 'file', ...this.#tree.addFile(path), mode: (mode & PERMISSION_BITS) | OWNER_BITS };
  }

  /** Checks the links of a complete archive. Yields after each link. @throws InvalidArchive */
  followLinks(): Iterable<void> {
    return this.#tree.followLinks();
  }

  /** The paths of the files. */
  files(): Iterable<string> {
    return this.#tree.files();
  }
}
