import { type ChildProcess, spawn } from 'node:child_process';
import { platform as thisPlatform } from 'node:os';
import type { Clock } from '../ports/clock.ts';
import { decoded } from './decoded.ts';
import { inSlices } from './in-slices.ts';
import { killGroup } from './kill-group.ts';
import type { ProcessReaper } from './process-reaper.ts';
import { environmentWith, shellFor } from './shell.ts';

/** The maximum output that is kept of one command. The rest is read and discarded. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;

/** The time for which output of a killed group is still read. A process that left the group can keep the output open forever. */
const DRAIN_MS = 250;

const STATUS_TIMED_OUT = 2;
const STATUS_NOT_STARTED = 3;

/** An account of the system. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  /** Open descriptors of this program that commands must not inherit, and the one that commands get in their place. */
  readonly withheld?: { readonly descriptors: ReadonlySet<number>; readonly substitute: number } | undefined;
}

export interface CommandRequest {
  /** The text for `sh -c`, on Windows for `cmd /c`. */
  command: string;
  /** Standard input; empty by default. */
  stdin?: string | Buffer | undefined;
  /** Entries `NAME=value` that extend the environment of this program, without its secrets. Later entries win, search paths are prepended, and other texts are ignored. */
  environment?: readonly string[];
  /** The time limit; 0, the default, means none. */
  timeoutMs?: number;
  /** How long a child of the command may hold the output open after the command has ended; no limit by default. */
  lingerMs?: number;
  /** The account that the command runs as, which requires that this program runs as root; that of this program by default. */
  account?: Account | undefined;
  /** Kills the whole group. A command is not started after the abort. */
  signal?: AbortSignal;
  /** Keeps standard error out of `output` and `bytes`. */
  separatesErrors?: boolean;
}

export interface CommandResult {
  ending: 'exited' | 'signalled' | 'timed-out' | 'aborted' | 'not-started';
  /** The exit code; 2 after a timeout, 3 when the command was not started, and 0 without meaning after a signal or an abort. */
  status: number;
  /** The signal that killed the shell itself, for example `SIGTERM`. */
  signal: NodeJS.Signals | undefined;
  /** Standard output and error in the order of arrival; bytes that are not UTF-8 become U+FFFD. */
  output: string;
  /** The output as it was written, up to MAX_OUTPUT_BYTES, without notes about a timeout or discarded bytes. */
  bytes: Buffer;
  /** Whether some output was discarded. */
  isCut: boolean;
  /** Standard error, where it is kept apart from the output. */
  errors: string;
  durationMs: number;
  /** The code of the system error when the command was not started. */
  errorCode?: string | undefined;
}

/** Collects up to MAX_OUTPUT_BYTES and counts the rest. */
class Output {
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;
  #discardedBytes = 0;

  add(chunk: Buffer): void {
    const kept = chunk.subarray(0, MAX_OUTPUT_BYTES - this.#keptBytes);
    if (kept.length > 0) this.#chunks.push(kept);
    this.#keptBytes += kept.length;
    this.#discardedBytes += chunk.length - kept.length;
  }

  get isCut(): boolean {
    return this.#discardedBytes > 0;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** `bytes` are those of this output. A long output is decoded in several ticks of the event loop. */
  async text(bytes: Buffer): Promise<string> {
    const text = await inSlices(decoded(bytes));
    if (this.#discardedBytes === 0) return text;
    return `${text}\nOutput cut at ${MAX_OUTPUT_BYTES} bytes, ${this.#discardedBytes} bytes discarded\n`;
  }
}

const identityOf = (account: Account | undefined): Record<string, string> =>
  account === undefined ? {} : { USER: account.name, LOGNAME: account.name, HOME: account.home };

/**
 * Starts the command. Its group registers itself, so that the reaper ends it even when this program is killed before `spawn`
 * returns. A command of another account does not get the input of the reaper: it could register any group of this machine, which the
 * reaper may end and that account may not.
 */
function start(request: CommandRequest, platform: NodeJS.Platform, reaper: ProcessReaper | undefined): ChildProcess {
  const { account, separatesErrors = false } = request;
  const input = reaper?.ready();
  const registry = account === undefined ? input : undefined;
  const stdin = request.stdin === undefined ? 'ignore' : 'pipe';
  const shell = shellFor(platform, request.command, { separatesErrors, registers: registry !== undefined });
  return spawn(shell.file, shell.args, {
    ...shell.options,
    stdio: [
      stdin,
      'pipe',
      shell.joinsStreams ? 'ignore' : 'pipe',
      ...(registry === undefined ? substitutesFor(account) : [registry]),
    ],
    env: { ...environmentWith(request.environment ?? [], process.env, platform), ...identityOf(account) },
    // The system also takes the other groups of this program away.
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid, cwd: '/' }),
  });
}

const STANDARD_DESCRIPTORS = 3;

/** What a command has in place of the descriptors from 3 on. Those that are ignored close by themselves when the command starts. */
function substitutesFor({ withheld }: Partial<Account> = {}): (number | 'ignore')[] {
  if (withheld === undefined) return [];
  const { descriptors, substitute } = withheld;
  const count = Math.max(STANDARD_DESCRIPTORS - 1, ...descriptors) + 1 - STANDARD_DESCRIPTORS;
  return Array.from({ length: count }, (_, index) =>
    descriptors.has(index + STANDARD_DESCRIPTORS) ? substitute : 'ignore',
  );
}

/**
 * Runs a shell command in a process group of its own. A process reaper ends the group with this program. The promise resolves when
 * the shell has ended and its output is closed, and never rejects.
 */
export function runCommand(
  request: CommandRequest,
  clock: Clock,
  anyReaper?: ProcessReaper,
  platform: NodeJS.Platform = thisPlatform(),
): Promise<CommandResult> {
  // The reaper is a script of `sh`.
  const reaper = platform === 'win32' ? undefined : anyReaper;
  const startedMs = clock.monotonicMs();
  const withoutProcess = (result: Pick<CommandResult, 'ending' | 'status' | 'output'>): CommandResult => ({
    ...result,
    signal: undefined,
    bytes: Buffer.alloc(0),
    isCut: false,
    errors: '',
    durationMs: clock.monotonicMs() - startedMs,
  });
  const notStarted = (error: unknown): CommandResult => ({
    ...withoutProcess({
      ending: 'not-started',
      status: STATUS_NOT_STARTED,
      output: error instanceof Error ? error.message : String(error),
    }),
    errorCode: (error as NodeJS.ErrnoException).code,
  });
  if (request.signal?.aborted === true) {
    return Promise.resolve(withoutProcess({ ending: 'aborted', status: 0, output: '' }));
  }
  let child: ChildProcess;
  try {
    child = start(request, platform, reaper);
  } catch (error) {
    return Promise.resolve(notStarted(error));
  }
  const { pid } = child;
  if (pid === undefined) {
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.stderr?.destroy();
    return new Promise((resolve) => child.once('error', (error) => resolve(notStarted(error))));
  }
  const release = reaper?.hold(pid);
  return new Promise((resolve) => {
    const output = new Output();
    const errors = new Output();
    const { timeoutMs = 0, signal: abort } = request;
    let killedBy: 'timed-out' | 'aborted' | undefined;
    let killNote = '';
    /** Ends a command that has exited while a child of it still holds the output open. */
    let endLinger: (() => void) | undefined;
    let endDrain = (): void => undefined;

    const settle = (result: Pick<CommandResult, 'ending' | 'status' | 'signal'>): void => {
      release?.();
      endTimeout();
      endDrain();
      abort?.removeEventListener('abort', onAbort);
      child.removeAllListeners('close');
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
      const heading = result.ending === 'timed-out' ? `Execution timed out\n${killNote}` : '';
      const durationMs = clock.monotonicMs() - startedMs;
      const bytes = output.bytes();
      void Promise.all([output.text(bytes), errors.text(errors.bytes())]).then(([text, errorText]) => {
        resolve({ ...result, output: heading + text, bytes, isCut: output.isCut, errors: errorText, durationMs });
      });
    };
    const settleKilled = (): void => {
      const ending = killedBy ?? 'aborted';
      settle({ ending, status: ending === 'timed-out' ? STATUS_TIMED_OUT : 0, signal: undefined });
    };
    const kill = (ending: 'timed-out' | 'aborted'): void => {
      if (killedBy !== undefined) return;
      if (endLinger !== undefined) {
        endLinger();
        return;
      }
      killedBy = ending;
      killGroup(platform, pid, () => {
        killNote = `Unable to TERM/KILL the process: #${pid}\n`;
      });
      endDrain = clock.after(DRAIN_MS, settleKilled);
    };
    const onAbort = (): void => {
      kill('aborted');
    };
    const endTimeout = timeoutMs > 0 ? clock.after(timeoutMs, () => kill('timed-out')) : () => undefined;

    child.stdout?.on('data', (chunk: Buffer) => output.add(chunk));
    child.stderr?.on('data', (chunk: Buffer) => (request.separatesErrors === true ? errors : output).add(chunk));
    // A command may ignore its input. The `close` event reports the end of its pipes.
    child.stdin?.on('error', () => child.stdin?.destroy());
    child.stdin?.end(request.stdin);
    child.on('error', (error) => output.add(Buffer.from(`${error.message}\n`)));
    const ended = (code: number | null, signal: NodeJS.Signals | null): void => {
      if (killedBy !== undefined) settleKilled();
      else if (signal !== null) settle({ ending: 'signalled', status: 0, signal });
      else settle({ ending: 'exited', status: code ?? 0, signal: undefined });
    };
    child.once('close', ended);
    child.once('exit', (code, signal) => {
      if (request.lingerMs === undefined || killedBy !== undefined) return;
      endLinger = () => {
        ended(code, signal);
      };
      endDrain = clock.after(request.lingerMs, endLinger);
    });
    abort?.addEventListener('abort', onAbort);
  });
}
