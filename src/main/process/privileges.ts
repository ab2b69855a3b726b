import { statSync } from 'node:fs';
import type { Log } from '../../ports/log.ts';
import { isDenial, isNotADirectory } from '../../store/no-store.ts';
import { NOTIFY_SOCKET } from './notify-ready.ts';

const ROOT = 0;

/** Warns when commands of handlers and mutators run as root. `uid` is that of the process, undefined on Windows. */
export function warnOfRootCommands(commandUser: string | undefined, log: Log, uid = process.getuid?.()): void {
  if (uid !== ROOT || commandUser !== undefined) return;
  const advice = 'run the backend as a user of its own, or set command-user';
  log.warn({ flag: 'command-user', advice }, 'commands of handlers and mutators run as root');
}

/** Warns when commands of another user could send notifications about the backend to systemd, for example one that restarts it. */
export function warnOfNotifications(
  commandUser: string | undefined,
  log: Log,
  socket = process.env[NOTIFY_SOCKET],
): void {
  if (commandUser === undefined || socket === undefined) return;
  const advice = 'set Type=exec and NotifyAccess=none in the unit';
  log.warn(
    { flag: 'command-user', advice },
    'systemd accepts notifications from commands of handlers and mutators, so that they can have it restart the backend',
  );
}

/** Undefined when the directory does not exist, is in one that this user may not enter, or is below a file: the next access reports that. */
function ownerOf(directory: string): number | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false })?.uid;
  } catch (error) {
    if (isDenial(error) || isNotADirectory(error)) return undefined;
    throw error;
  }
}

/** Warns when another user owns the state directory: one of the two cannot use what the other one creates in it. */
export function warnOfOtherOwner(stateDir: string, log: Log, uid = process.getuid?.()): void {
  const owner = ownerOf(stateDir);
  if (uid === undefined || owner === undefined || owner === uid) return;
  const advice = `run this command as user ${owner}`;
  log.warn(
    { flag: 'state-dir', path: stateDir, owner, user: uid, advice },
    'the state directory belongs to another user',
  );
}
