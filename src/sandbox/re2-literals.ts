import { tokenizer } from 'acorn';

/** A construct of RE2 that JavaScript lacks. */
const RE2_CONSTRUCT = /\(\?[a-zA-Z-]+[:)]|\(\?P<|\[\[?:\^?[a-z]+:\]|\[\[:|\\[AzQ]/;
const LEADING_FLAGS = /^\(\?([ims]+)\)/;
const ECMA_VERSION = 2025;
/** The content of each POSIX class in brackets. */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
/** The content of each negated POSIX class. */
const NEGATED_CLASSES: Readonly<Record<string, string>> = {
  alnum: '\\x00-\\/:-@\\[-`{-\\uFFFF',
  alpha: '\\x00-@\\[-`{-\\uFFFF',
  ascii: '\\x80-\\uFFFF',
  blank: '\\x00-\\x08\\x0A-\\x1F!-\\uFFFF',
  cntrl: ' -~\\x80-\\uFFFF',
  digit: '\\D',
  graph: '\\x00- \\x7F-\\uFFFF',
  lower: '\\x00-`{-\\uFFFF',
  print: '\\x00-\\x1F\\x7F-\\uFFFF',
  punct: '\\x00- 0-9A-Za-z\\x7F-\\uFFFF',
  space: '\\x00-\\x08\\x0E-\\x1F!-\\uFFFF',
  upper: '\\x00-@\\[-\\uFFFF',
  word: '\\W',
  xdigit: '\\x00-\\/:-@G-`g-\\uFFFF',
};

interface Literal {
  start: number;
  end: number;
  pattern: string;
  flags: string;
}

/**
 * Rewrites the regular expression literals of a program from RE2, whose constructs stored filters may use, to
 * JavaScript: leading `(?i)`, `(?m)` and `(?s)` become flags, `(?P<name>` becomes `(?<name>`, POSIX classes become
 * ranges, and `\A`, `\z` and `\Q…\E` become their equivalents. Other programs, and those that cannot be tokenized, stay
 * as they are. Source: spec/04 2.7, "Language".
 */
export function withJavaScriptPatterns(program: string): string {
  if (!program.includes('/') || !RE2_CONSTRUCT.test(program)) return program;
  let rewritten = '';
  let copied = 0;
  for (const { start, end, pattern, flags } of literalsOf(program)) {
    rewritten += program.slice(copied, start) + rewrittenLiteral(pattern, flags);
    copied = end;
  }
  return rewritten + program.slice(copied);
}

function literalsOf(program: string): Literal[] {
  const literals: Literal[] = [];
  const tokens = tokenizer(program, { ecmaVersion: ECMA_VERSION, sourceType: 'script' });
  // The tokenizer validates patterns as JavaScript; those that it must not refuse are the reason for this function.
  Object.assign(tokens, { validateRegExpFlags: () => undefined, validateRegExpPattern: () => undefined });
  try {
    for (const token of tokens) {
      const { type, start, end } = token;
      if (type.label !== 'regexp') continue;
      const { value } = token as typeof token & { value: { pattern: string; flags: string } };
      literals.push({ start, end, pattern: value.pattern, flags: value.flags });
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [];
  }
  return literals;
}

function rewrittenLiteral(pattern: string, flags: string): string {
  const [prefix = '', leading = ''] = LEADING_FLAGS.exec(pattern) ?? [];
  const all = new Set(flags + leading);
  return `/${javaScriptPattern(pattern.slice(prefix.length)) || '(?:)'}/${[...all].join('')}`;
}

/** Rewrites what RE2 has and JavaScript lacks, and leaves other escapes and brackets alone. */
function javaScriptPattern(pattern: string): string {
  let result = '';
  let inBrackets = false;
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    const posix = inBrackets ? /^\[:(\^?)([a-z]+):\]/.exec(rest) : undefined;
    const ranges = posix && (posix[1] === '' ? POSIX_CLASSES : NEGATED_CLASSES)[posix[2] ?? ''];
    if (posix && ranges !== undefined) {
      result += ranges;
      at += posix[0].length;
    } else if (!inBrackets && /^\\[AzQ]/.test(rest)) {
      const [taken, written] = anchorOrQuotation(rest);
      result += written;
      at += taken;
    } else if (rest.startsWith('\\')) {
      result += rest.slice(0, 2);
      at += 2;
    } else if (!inBrackets && rest.startsWith('(?P<')) {
      result += '(?<';
      at += 4;
    } else {
      if (rest.startsWith('[')) inBrackets = true;
      else if (rest.startsWith(']')) inBrackets = false;
      result += rest.charAt(0);
      at += 1;
    }
  }
  return result;
}

/** The beginning and the end of the text, with and without the flag `m`. */
const TEXT_BEGIN = '(?<![^])';
const TEXT_END = '(?![^])';

/** Returns the length of `\A`, `\z` or `\Q…\E` at the beginning of a pattern, and its equivalent in JavaScript. */
function anchorOrQuotation(pattern: string): [taken: number, written: string] {
  if (pattern.startsWith('\\A')) return [2, TEXT_BEGIN];
  if (pattern.startsWith('\\z')) return [2, TEXT_END];
  const end = pattern.indexOf('\\E', 2);
  const quoted = pattern.slice(2, end < 0 ? undefined : end);
  return [end < 0 ? pattern.length : end + 2, quoted.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')];
}
