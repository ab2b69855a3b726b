import { spawnSync } from 'node:child_process';
import { openSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { ConfigError } from '../../config/parsing/flags.ts';
import type { Account } from '../../exec/process-group.ts';
import { storeDirectory } from './directories.ts';
import { openDescriptorsIn } from './open-descriptors.ts';

const FLAG = 'command-user';
/** The names that `getent` is called with. */
const NAME = /^[a-z_][a-z0-9_.-]*\$?$/i;

/**
 * The account that commands of handlers and mutators run as. It must not be able to read the store, which is open by now, and
 * commands do not inherit the descriptors of its files.
 * @throws ConfigError
 */
export function commandAccount(name: string, stateDir: string): Account {
  const refused = (rule: string): ConfigError => new ConfigError([{ flag: FLAG, rule: `${FLAG}: ${rule}` }]);
  if (process.getuid?.() !== 0) throw refused('the backend must run as root to run commands as another user');
  const account = NAME.test(name) ? accountOf(name) : undefined;
  if (account === undefined) throw refused(`there is no user ${name}`);
  if (account.uid === 0) throw refused(`${name} must not be root`);
  const { uid, gid, mode } = statSync(stateDir);
  if (uid === account.uid || (gid === account.gid && (mode & 0o070) !== 0) || (mode & 0o007) !== 0) {
    throw refused(`${name} can read the store; ${stateDir} must be for its owner only, who must be another user`);
  }
  return Object.freeze({ ...account, withheld: withheldFrom(storeDirectory(stateDir)) });
}

function withheldFrom(store: string): Account['withheld'] {
  const descriptors = new Set(openDescriptorsIn(store));
  return Object.freeze({ descriptors, substitute: openSync(devNull, 'r+') });
}

function accountOf(name: string): Account | undefined {
  const { status, stdout } = spawnSync('getent', ['passwd', name], { encoding: 'utf8' });
  const [, , uid, gid, , home = '/'] = status === 0 ? stdout.trim().split(':') : [];
  return uid === undefined ? undefined : Object.freeze({ name, uid: Number(uid), gid: Number(gid), home });
}
