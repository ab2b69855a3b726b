import { isMap, isScalar, parseAllDocuments } from 'yaml';
import type { Mistake } from './config-error.ts';

interface NamedFile {
  path: string;
  /** Whether a flag or a variable names the file. Only the default file may be missing. */
  isNamed: boolean;
  /** Throws as `fs.readFileSync` does. */
  readFile(path: string): string;
}

interface FileSettings {
  /** The settings by their keys in lower case. */
  settings: Map<string, unknown>;
  /** Keys in lower case that the file has more than once, in the same or in other cases. */
  repeated: Set<string>;
}

/** Reads the settings of the file. Adds the mistakes of the file itself to `mistakes`. */
export function readConfigFile({ path, isNamed, readFile }: NamedFile, mistakes: Mistake[]): FileSettings {
  const settings = new Map<string, unknown>();
  const read: FileSettings = { settings, repeated: new Set() };
  try {
    const [document] = parseAllDocuments(readFile(path), { uniqueKeys: false, intAsBigInt: true });
    if (document === undefined || !('errors' in document)) return read;
    if (document.errors[0] !== undefined) throw document.errors[0];
    const value = document.toJS({ reviver: withDigits }) as unknown;
    if (value === null || value === undefined) return read;
    if (typeof value !== 'object' || Array.isArray(value)) throw new Error('must be a map of flag names to values');
    for (const [key, setting] of Object.entries(value)) settings.set(key.toLowerCase(), setting);
    read.repeated = repeatedKeys(document.contents);
  } catch (error) {
    if (!isNamed && (error as NodeJS.ErrnoException).code === 'ENOENT') return read;
    mistakes.push({ flag: 'config-file', rule: `${path}: ${(error as Error).message}` });
  }
  return read;
}

function repeatedKeys(contents: unknown): Set<string> {
  if (!isMap(contents)) return new Set();
  const keys = contents.items.map(({ key }) => (isScalar(key) ? String(key.value).toLowerCase() : ''));
  return new Set(keys.filter((key, index) => key !== '' && keys.indexOf(key) !== index));
}

/** A number that is too large to be exact, such as an id in a label, keeps its digits as a text. */
function withDigits(_key: unknown, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
