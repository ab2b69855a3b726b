import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { isOwnSecret } from '../../exec/own-secret.ts';
import type { Log } from '../../ports/log.ts';

/** Matches the flags with credentials of our programs. */
const SECRET_FLAG = /^--(?:[\w-]+-)?(?:password|api-key)$/;

/** The first field of `/proc/self/stat` after the name of the program, which may contain spaces. */
const FIRST_FIELD = 3;
/** Fields of `/proc/self/stat`: the addresses of the command line and of the environment. Source: proc_pid_stat(5). */
const AREAS = { arguments: [48, 49], environment: [50, 51] } as const;

const MASK = '*';

type Environment = Readonly<Record<string, string | undefined>>;

/** The bytes from `start` to `end`. */
interface Span {
  start: number;
  end: number;
}

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
      maskAreas();
    } catch (err) {
      log.warn({ err, variables }, 'could not hide the secrets of the start from other processes of this user');
    }
  }
  for (const flag of new Set(flags.map(nameOf))) {
    log.warn({ flag }, 'secret on the command line, use an environment variable or a file');
  }
  return environment;
}

/** The name of a variable or flag in `name=value`. */
const nameOf = (entry: string): string => entry.split('=', 1)[0] ?? '';

function maskAreas(): void {
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    maskArea(memory, AREAS.arguments, secretArguments);
    maskArea(memory, AREAS.environment, secretValues);
  } finally {
    closeSync(memory);
  }
}

function maskArea(
  memory: number,
  fields: readonly [number, number],
  secretsIn: (entries: readonly Span[], text: Buffer) => Span[],
): void {
  const [start, end] = addressesOf(fields);
  const text = Buffer.alloc(end - start);
  readSync(memory, text, 0, text.length, start);
  for (const secret of secretsIn(entriesOf(text), text)) {
    writeSync(
      memory,
      Buffer.alloc(secret.end - secret.start, MASK),
      0,
      secret.end - secret.start,
      start + secret.start,
    );
  }
}

function addressesOf([start, end]: readonly [number, number]): [number, number] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[start - FIRST_FIELD]), Number(fields[end - FIRST_FIELD])];
}

/** The entries of a list whose entries each end with a zero byte. */
function entriesOf(text: Buffer): Span[] {
  const entries: Span[] = [];
  for (let start = 0; start < text.length;) {
    const zero = text.indexOf(0, start);
    const end = zero === -1 ? text.length : zero;
    entries.push({ start, end });
    start = end + 1;
  }
  return entries;
}

/** The values of `NAME=value` and `--flag=value`. */
function secretValues(entries: readonly Span[], text: Buffer): Span[] {
  return entries.flatMap(({ start, end }) => {
    const name = nameOf(text.toString('utf8', start, end));
    const isSecret = isOwnSecret(name) || SECRET_FLAG.test(name);
    const valueStart = start + Buffer.byteLength(name) + 1;
    return isSecret && valueStart < end ? [{ start: valueStart, end }] : [];
  });
}

/** The values in `--flag=value` and `--flag value`. */
const secretArguments = (entries: readonly Span[], text: Buffer): Span[] => [
  ...secretValues(entries, text),
  ...entries.filter((_, index) => {
    const flag = entries[index - 1];
    return flag !== undefined && SECRET_FLAG.test(text.toString('utf8', flag.start, flag.end));
  }),
];
