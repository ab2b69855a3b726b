import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Log } from '../ports/log.ts';

/** How long a process group has to end by itself once this program is gone. */
const GRACE_S = 2;
/** What the leash has not read; one that stands still is replaced. */
const MAX_UNREAD_BYTES = 64 * 1024;

/**
 * Reads which process groups run, `add <group>` and `drop <group>`; when its input ends this program is gone, and what still runs is
 * ended. POSIX shell. It is not ended with this program by a signal for all, or nobody would be left to read on.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r verb group; do
  case $verb in
    add) groups="$groups$group " ;;
    drop) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
if [ "$groups" = ' ' ]; then exit; fi
for group in $groups; do kill -s TERM -- "-$group"; done
sleep ${GRACE_S}
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/** Ends the process groups of this program when it is killed and cannot do so itself: a small child process, made when it is first needed. */
export class ProcessReaper {
  readonly #log: Log;
  readonly #shell: string;
  readonly #groups = new Set<number>();
  #child: ChildProcess | undefined;
  #hasWarned = false;

  constructor(log: Log, shell = 'sh') {
    this.#log = log;
    this.#shell = shell;
  }

  /** To be called before a group is started, so that little lies between its start and `hold`. Never throws. */
  ready(): void {
    if (this.#child !== undefined) return;
    try {
      this.#child = this.#start();
    } catch (error) {
      this.#warn(error);
    }
    for (const group of this.#groups) this.#tell('add', group);
  }

  /** Holds a process group until the returned function lets it go. */
  hold(group: number): () => void {
    this.#groups.add(group);
    this.#tell('add', group);
    return () => {
      if (this.#groups.delete(group)) this.#tell('drop', group);
    };
  }

  /** Ends what is still held, as the end of this program would. */
  close(): void {
    this.#child?.stdin?.end();
    this.#child = undefined;
    this.#groups.clear();
  }

  /** It holds no directory, gets no secrets by its environment, and keeps nobody waiting. */
  #start(): ChildProcess {
    const { PATH } = process.env;
    const child = spawn(this.#shell, ['-c', SCRIPT, 'mon-leash'], {
      cwd: '/',
      detached: true,
      env: PATH === undefined ? {} : { PATH },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.once('error', (error) => {
      this.#lost(child);
      this.#warn(error);
    });
    child.once('exit', () => {
      this.#lost(child);
    });
    // When nobody reads any more, the exit is told as well.
    child.stdin?.on('error', () => child.stdin?.destroy());
    child.unref();
    (child.stdin as Socket | null)?.unref();
    return child;
  }

  /** The next command makes a new one, which hears of all groups. */
  #lost(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
  }

  /** Once: the next command tries again. */
  #warn(err: unknown): void {
    if (!this.#hasWarned)
      this.#log.warn({ err }, 'commands go on when this program is killed: no reaper can be started');
    this.#hasWarned = true;
  }

  #tell(verb: 'add' | 'drop', group: number): void {
    const { stdin } = this.#child ?? {};
    if (stdin?.writable !== true) return;
    if (stdin.writableLength > MAX_UNREAD_BYTES) this.#child?.kill('SIGKILL');
    else stdin.write(`${verb} ${group}\n`);
  }
}
