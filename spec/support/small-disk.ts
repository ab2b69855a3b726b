import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { inTime } from './eventually.ts';

/** Both keep the user, who is root in the namespace. */
const NAMESPACES = ['--user', '--mount'];
const MIB = 2 ** 20;
const PAGE = 4_096;

/** A file system of its own in memory, at a path that only programs with its prefix see. */
export class SmallDisk {
  readonly path: string;
  readonly #holder: ChildProcess;

  private constructor(path: string, holder: ChildProcess) {
    this.path = path;
    this.#holder = holder;
  }

  /** Mounts the file system at an existing directory. */
  static async mount(path: string, { mib }: { mib: number }): Promise<SmallDisk> {
    const script = `mount -t tmpfs -o size=${mib}m,mode=700 tmpfs "$0" && echo mounted && exec cat > /dev/null`;
    const holder = spawn('unshare', [...NAMESPACES, '--map-root-user', 'sh', '-c', script, path], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await inTime(Promise.race([once(holder.stdout, 'data'), endOf(holder)]), 'a mounted file system');
    return new SmallDisk(path, holder);
  }

  /** Runs a command where the file system is mounted, as the same process. */
  get prefix(): string[] {
    return ['nsenter', '--target', String(this.#holder.pid), ...NAMESPACES, '--preserve-credentials', '--'];
  }

  /** The path of a file for this process. */
  fileOf(name: string): string {
    return `/proc/${this.#holder.pid}/root${this.path}/${name}`;
  }

  /** Uses up the last page. */
  fill(): void {
    const file = openSync(this.fileOf('others'), 'a');
    try {
      for (const bytes of [MIB, PAGE]) while (hasRoomFor(file, bytes));
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.fileOf('others'), { force: true });
  }

  async stop(): Promise<void> {
    this.#holder.stdin?.end();
    if (this.#holder.exitCode === null) await once(this.#holder, 'close');
  }
}

async function endOf(holder: ChildProcess): Promise<never> {
  const [code] = (await once(holder, 'close')) as [number | null];
  throw new Error(`a file system could not be mounted: exit code ${code}`);
}

/** Appends bytes. Returns false when the disk accepted none. */
function hasRoomFor(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
