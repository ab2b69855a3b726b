import type { Flag, FlagTable } from './flag.ts';

const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 40;
const MAX_COLUMNS = 120;
const FLAG_INDENT = '  ';
const TEXT_INDENT = '        ';
const ACCEPTED = 'Accepted without effect, with a warning (docs/operate.md has the reasons):';

interface HelpOptions {
  /** The command, such as `mon-backend start`. */
  usage: string;
  flags: FlagTable;
  /** The environment variable of a flag. */
  variableOf(name: string): string;
  /** The width of the terminal; undefined or 0 where it is unknown. */
  columns: number | undefined;
}

/** The flags of a command by groups, each with its default and its environment variable, wrapped to the terminal. */
export function helpOf({ usage, flags, variableOf, columns }: HelpOptions): string {
  const width = Math.min(Math.max(columns || DEFAULT_COLUMNS, MIN_COLUMNS), MAX_COLUMNS);
  const groups = new Map<string, string[]>();
  const ignored: string[] = [];
  for (const [name, flag] of Object.entries<Flag<unknown>>(flags)) {
    if (flag.withoutEffect !== undefined) {
      ignored.push(`--${name}`);
      continue;
    }
    const words = [...flag.about.split(' '), ...describeFallback(flag), `[${variableOf(name)}]`];
    const lines = [FLAG_INDENT + syntaxOf(name, flag), ...wrap(words, width, TEXT_INDENT)];
    groups.set(flag.group ?? 'Flags', [...(groups.get(flag.group ?? 'Flags') ?? []), ...lines]);
  }
  const sources =
    'The value of a setting comes from its flag, else from the environment variable in brackets, else from the file ' +
    'that --config-file names, else it is the default.';
  const parts = [
    [`Usage: ${usage} [flags]`],
    wrap(sources.split(' '), width, ''),
    ...[...groups].map(([heading, lines]) => [`${heading}:`, ...lines]),
    [`${FLAG_INDENT}-h, --help`, `${TEXT_INDENT}show this text`],
  ];
  if (ignored.length > 0) {
    parts.push([...wrap(ACCEPTED.split(' '), width, ''), ...wrap(ignored.join(', ').split(' '), width, FLAG_INDENT)]);
  }
  return parts.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

function syntaxOf(name: string, { short, kind }: Flag<unknown>): string {
  const spelling = `${short === undefined ? '' : `-${short}, `}--${name}`;
  return kind.placeholder === undefined ? spelling : `${spelling} <${kind.placeholder}>`;
}

function describeFallback({ kind, fallback, secret = false }: Flag<unknown>): string[] {
  const text = kind.show?.(fallback) ?? String(fallback);
  if (secret || fallback === false) return [];
  return text === '' ? [] : [`(default ${text})`];
}

/** Joins the words to lines. A word that is longer than a line has a line of its own. */
function wrap(words: readonly string[], width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, indent + line];
}
