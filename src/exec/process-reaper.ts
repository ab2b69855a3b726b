import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Log } from '../ports/log.ts';

/** The time between SIGTERM and SIGKILL to a process group. */
const GRACE_S = 2;
/** The maximum number of bytes that the reaper has not read. A reaper above it is stuck and is replaced. */
const MAX_UNREAD_BYTES = 64 * 1024;

/**
 * The script of the reaper (POSIX shell). It reads `add <group>`, which may be repeated, and `drop <group>`. When its input ends, this program has ended, and the
 * script ends the groups that still run. It ignores the signals that a terminal or a service manager sends to all processes.
 */
const SCRIPT = `
trap '' HUP INT TERM USR1 USR2
groups=' '
while read -r verb group; do
  case $verb in
    add) case $groups in *" $group "*) ;; *) groups="$groups$group " ;; esac ;;
    drop) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
if [ "$groups" = ' ' ]; then exit; fi
for group in $groups; do kill -s TERM -- "-$group"; done
sleep ${GRACE_S}
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/** Ends the process groups of this program when the program is killed and cannot do so itself. It is a small child process, started when it is first needed. */
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

  /**
   * Starts the reaper process unless it runs. Returns its input, to which a process group can write `add <group>` itself; undefined
   * when there is none. Never throws.
   */
  ready(): Writable | undefined {
    if (this.#child === undefined) {
      try {
        this.#child = this.#start();
      } catch (error) {
        this.#warn(error);
      }
      for (const group of this.#groups) this.#send('add', group);
    }
    return this.#input;
  }

  /** Registers a process group until the returned function is called. */
  hold(group: number): () => void {
    this.#groups.add(group);
    this.#send('add', group);
    return () => {
      if (this.#groups.delete(group)) this.#send('drop', group);
    };
  }

  /** Ends the registered groups, as the end of this program would. */
  close(): void {
    this.#child?.stdin?.end();
    this.#child = undefined;
    this.#groups.clear();
  }

  /** The reaper uses no directory of this program, has no secrets in its environment, and does not keep this program running. */
  #start(): ChildProcess {
    const { PATH } = process.env;
    const child = spawn(this.#shell, ['-c', SCRIPT, 'mon-reaper'], {
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
    // An error of the pipe is followed by the exit event, which is handled.
    child.stdin?.on('error', () => child.stdin?.destroy());
    child.unref();
    (child.stdin as Socket | null)?.unref();
    return child;
  }

  /** The next command starts another reaper, which receives all groups. */
  #lost(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
  }

  /** Reports a failed start once; the next command tries again. */
  #warn(err: unknown): void {
    if (!this.#hasWarned)
      this.#log.warn({ err }, 'could not start the process reaper: commands will outlive this program if it is killed');
    this.#hasWarned = true;
  }

  get #input(): Writable | undefined {
    const { pid, stdin } = this.#child ?? {};
    return pid !== undefined && stdin?.writable === true ? stdin : undefined;
  }

  #send(verb: 'add' | 'drop', group: number): void {
    const stdin = this.#input;
    if (stdin === undefined) return;
    if (stdin.writableLength > MAX_UNREAD_BYTES) this.#child?.kill('SIGKILL');
    else stdin.write(`${verb} ${group}\n`);
  }
}
