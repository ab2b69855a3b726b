import { isOwnSecret } from '../../exec/own-secret.ts';
import type { Log } from '../../ports/log.ts';
import { maskMemory, nameOf } from './mask-memory.ts';

/** Matches the flags with credentials of our programs. */
const SECRET_FLAG = /^--(?:[\w-]+-)?(?:password|api-key)$/;

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Removes the secrets that this program was started with from `process.env`, and overwrites them in the memory that
 * `/proc/<pid>/environ` and `/proc/<pid>/cmdline` show, which any process of the same user can read. Returns the environment
 * with the secrets. Systems without `/proc` show no environment there.
 */
export function hideSecrets(log: Log): Environment {
  const environment = { ...process.env };
  const flags = process.argv.filter((argument) => SECRET_FLAG.test(nameOf(argument)));
  const variables = Object.keys(environment).filter(isOwnSecret);
  for (const name of variables) delete process.env[name];
  if (flags.length + variables.length > 0) {
    try {
      maskMemory((name) => isOwnSecret(name) || SECRET_FLAG.test(name));
    } catch (err) {
      log.warn({ err, variables }, 'could not hide start-up secrets from other processes of this user');
    }
  }
  for (const flag of new Set(flags.map(nameOf))) {
    log.warn({ flag }, 'secret on the command line, use an environment variable or a file');
  }
  return environment;
}
