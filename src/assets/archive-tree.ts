import { InvalidArchive } from './invalid-archive.ts';

/** Files, directories and links of an archive, and directories that it only implies. */
const MAX_ENTRIES = 100_000;
/** The characters of all their paths. */
const MAX_PATH_CHARACTERS = 8 * 1024 * 1024;
const MAX_PATH_LENGTH = 1_000;
const MAX_NAME_BYTES = 255;
/** The system follows as many links for one path. */
const MAX_LINKS_FOLLOWED = 40;
/** The names that are looked up to follow all links of an archive. */
const MAX_LINK_STEPS = 1_000_000;
/** The longest path to which a link may lead on the way to its end. */
const MAX_LINKED_LENGTH = 4_096;

type Node = 'directory' | 'file' | { target: string };

/**
 * The paths of an archive so far. No entry and no link leads out of it: paths have no `..`, nothing is below a symbolic link, and
 * `followLinks` follows every link.
 */
export class ArchiveTree {
  readonly #nodes = new Map<string, Node>();
  #characters = 0;
  #linkSteps = 0;

  /** Adds a directory, and returns the directories that it makes necessary, parents first. @throws InvalidArchive */
  addDirectory(path: string): string[] {
    const names = namesOf(path);
    return names.length === 0 ? [] : this.#directories(names);
  }

  /** Adds a file, and returns the directories that it makes necessary. @throws InvalidArchive */
  addFile(path: string): { path: string; directories: string[] } {
    return this.#addLeaf(path, 'file');
  }

  /** Adds a symbolic link. @throws InvalidArchive */
  addSymbolicLink(path: string, target: string): { path: string; directories: string[] } {
    if (isAbsolute(target)) throw new InvalidArchive(path, `links to ${JSON.stringify(target)}, an absolute path`);
    if (target.length > MAX_PATH_LENGTH) throw new InvalidArchive(path, 'links to a path that is too long');
    return this.#addLeaf(path, { target });
  }

  /** Adds another name for a file of the archive, and returns its first name too. @throws InvalidArchive */
  addHardLink(path: string, target: string): { path: string; directories: string[]; target: string } {
    const found = namesOf(target).join('/');
    if (this.#nodes.get(found) !== 'file') {
      throw new InvalidArchive(
        path,
        `links to ${JSON.stringify(target)}, which is not a file before it in the archive`,
      );
    }
    return { ...this.#addLeaf(path, 'file'), target: found };
  }

  /** The paths of the files. */
  *files(): Iterable<string> {
    for (const [path, node] of this.#nodes) if (node === 'file') yield path;
  }

  /** Follows each symbolic link as the system does, when the archive is complete. Yields after each. @throws InvalidArchive */
  *followLinks(): Iterable<void> {
    for (const [path, node] of this.#nodes) {
      if (typeof node !== 'object') continue;
      this.#follow(path, node.target);
      yield;
    }
  }

  #follow(link: string, target: string): void {
    const at = link.split('/').slice(0, -1);
    const left = target.split(SEPARATOR).reverse();
    for (let followed = 1, name = left.pop(); name !== undefined; name = left.pop()) {
      this.#linkSteps += 1;
      if (this.#linkSteps > MAX_LINK_STEPS) throw new InvalidArchive(link, 'and those before it link too often');
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (at.pop() === undefined) throw new InvalidArchive(link, 'links to a path outside the archive');
        continue;
      }
      at.push(name);
      const path = at.join('/');
      if (path.length > MAX_LINKED_LENGTH) throw new InvalidArchive(link, 'links to too long a path');
      const node = this.#nodes.get(path);
      if (typeof node !== 'object') continue;
      followed += 1;
      if (followed > MAX_LINKS_FOLLOWED) throw new InvalidArchive(link, 'links in a circle');
      at.pop();
      left.push(...node.target.split(SEPARATOR).reverse());
    }
  }

  #addLeaf(path: string, node: Node): { path: string; directories: string[] } {
    const names = namesOf(path);
    if (names.length === 0) throw new InvalidArchive(path, 'is not a directory and names the archive itself');
    const directories = this.#directories(names.slice(0, -1));
    const key = names.join('/');
    if (this.#nodes.has(key)) throw new InvalidArchive(path, 'file already exists');
    this.#add(key, node);
    return { path: key, directories };
  }

  #directories(names: readonly string[]): string[] {
    const added: string[] = [];
    for (let depth = names.length; depth > 0; depth -= 1) {
      const path = names.slice(0, depth).join('/');
      const known = this.#nodes.get(path);
      if (known === 'directory') break;
      if (known !== undefined)
        throw new InvalidArchive(names.join('/'), `is below ${JSON.stringify(path)}, which is not a directory`);
      added.unshift(path);
    }
    for (const path of added) this.#add(path, 'directory');
    return added;
  }

  #add(path: string, node: Node): void {
    this.#characters += path.length + (typeof node === 'object' ? node.target.length : 0);
    if (this.#nodes.size >= MAX_ENTRIES) throw new InvalidArchive(path, `is one of more than ${MAX_ENTRIES} entries`);
    if (this.#characters > MAX_PATH_CHARACTERS)
      throw new InvalidArchive(path, `and those before it have too long names`);
    this.#nodes.set(path, node);
  }
}

const SEPARATOR = process.platform === 'win32' ? /[/\\]/ : '/';

const isAbsolute = (path: string): boolean =>
  path.startsWith('/') || (process.platform === 'win32' && /^(\\|[A-Za-z]:)/.test(path));

/** The names in the path of an entry. @throws InvalidArchive */
function namesOf(path: string): string[] {
  if (path.length > MAX_PATH_LENGTH) throw new InvalidArchive(path.slice(0, MAX_NAME_BYTES), 'has too long a path');
  if (path.includes('\0')) throw new InvalidArchive(path, 'has a NUL in its path');
  if (isAbsolute(path)) throw new InvalidArchive(path, 'has an absolute path');
  const names = path.split(SEPARATOR).filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw new InvalidArchive(path, 'has .. in its path');
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    throw new InvalidArchive(path, 'has too long a name');
  return names;
}
