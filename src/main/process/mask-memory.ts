import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/** The first field of `/proc/self/stat` after the name of the program, which may contain spaces. */
const FIRST_FIELD = 3;
/** Fields of `/proc/self/stat`: the addresses of the command line and of the environment. Source: proc_pid_stat(5). */
const AREAS = { arguments: [48, 49], environment: [50, 51] } as const;

const MASK = '*';

/** Whether the value of a variable or of a flag is secret, by its name. */
export type IsSecret = (name: string) => boolean;

/** The bytes from `start` to `end`. */
interface Span {
  start: number;
  end: number;
}

/** The name of a variable or flag in `name=value`. */
export const nameOf = (entry: string): string => entry.split('=', 1)[0] ?? '';

/**
 * Overwrites the values of secrets in the memory that `/proc/<pid>/environ` and `/proc/<pid>/cmdline` show, which any process
 * of the same user can read. Systems without `/proc` show no environment there. @throws Error of the file system
 */
export function maskMemory(isSecret: IsSecret): void {
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    maskArea(memory, AREAS.arguments, (entries, text) => secretArguments(entries, text, isSecret));
    maskArea(memory, AREAS.environment, (entries, text) => secretValues(entries, text, isSecret));
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
function secretValues(entries: readonly Span[], text: Buffer, isSecret: IsSecret): Span[] {
  return entries.flatMap(({ start, end }) => {
    const name = nameOf(text.toString('utf8', start, end));
    const valueStart = start + Buffer.byteLength(name) + 1;
    return isSecret(name) && valueStart < end ? [{ start: valueStart, end }] : [];
  });
}

/** The values in `--flag=value` and `--flag value`. */
const secretArguments = (entries: readonly Span[], text: Buffer, isSecret: IsSecret): Span[] => [
  ...secretValues(entries, text, isSecret),
  ...entries.filter((_, index) => {
    const flag = entries[index - 1];
    return flag !== undefined && isSecret(text.toString('utf8', flag.start, flag.end));
  }),
];
