import { delimiter } from 'node:path';
import { isOwnSecret } from './own-secret.ts';

/** How a command is started: what `spawn` takes. */
export interface ShellStart {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether both streams of the command arrive in one pipe, which keeps their order. */
  readonly joinsStreams: boolean;
  readonly options: {
    readonly detached: boolean;
    readonly windowsVerbatimArguments?: true;
    readonly windowsHide?: true;
  };
}

/** Joins both streams in one pipe and becomes the shell of the command. */
const RUN_JOINED = 'exec sh -c "$0" 2>&1';
const RUN_SEPARATE = 'exec sh -c "$0"';
/** Registers the group with the process reaper first. A reaper that has ended raises SIGPIPE in the subshell only. */
const registered = (run: string): string => `(echo "add $$" >&3); ${run} 3>&-`;

/**
 * The shell for a command: `sh -c`, on Windows `cmd /c` with the text as it is (spec/03 4.3). Only `sh` joins the streams, and
 * registers the group of the command at descriptor 3.
 */
export function shellFor(
  platform: NodeJS.Platform,
  command: string,
  { separatesErrors, registers }: { readonly separatesErrors: boolean; readonly registers: boolean },
): ShellStart {
  if (platform === 'win32') {
    const options = { detached: false, windowsVerbatimArguments: true, windowsHide: true } as const;
    return { file: 'cmd', args: ['/c', command], joinsStreams: false, options };
  }
  const run = separatesErrors ? RUN_SEPARATE : RUN_JOINED;
  const args = ['-c', registers ? registered(run) : run, command];
  return { file: 'sh', args, joinsStreams: !separatesErrors, options: { detached: true } };
}

const SEARCH_PATHS = new Set(['PATH', 'CPATH', 'LD_LIBRARY_PATH']);

/**
 * Extends the environment, without the secrets of this program, by entries `NAME=value`. Later entries win, search paths are
 * prepended, and other texts are ignored. Windows does not distinguish names by case, so all are in upper case there.
 */
export function environmentWith(
  overlay: readonly string[],
  own: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): NodeJS.ProcessEnv {
  const nameOf = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name);
  const separator = platform === 'win32' ? ';' : delimiter;
  const kept = Object.entries(own).filter(([name]) => !isOwnSecret(name));
  const environment = Object.fromEntries(kept.map(([name, value]) => [nameOf(name), value]));
  for (const entry of overlay) {
    const equals = entry.indexOf('=');
    if (equals < 1) continue;
    const [name, value] = [nameOf(entry.slice(0, equals)), entry.slice(equals + 1)];
    const before = SEARCH_PATHS.has(name) ? [value, environment[name]] : [value];
    environment[name] = before
      .filter((part, index) => index === 0 || (part !== undefined && part !== ''))
      .join(separator);
  }
  return environment;
}
