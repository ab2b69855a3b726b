import type { DestinationStream } from 'pino';

/** Control and format characters, line breaks and unpaired surrogates. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const TIME_DIGITS = 2;

/** Fields that every line has, and the stack, which only the JSON line shows. */
const OWN_FIELDS: readonly string[] = ['level', 'time', 'component', 'msg', 'error', 'stack'];

/**
 * Converts lines of JSON to text for a terminal: local time, level, message, error and the other fields. The component is left
 * out when it is the program. Characters that could control the terminal are escaped, because values may come from clients.
 */
export function terminalLines<Out extends DestinationStream>(out: Out, program: string): Out {
  return { ...out, write: (line: string) => out.write(`${textOf(line, program)}\n`) };
}

function textOf(line: string, program: string): string {
  const fields = JSON.parse(line) as Record<string, unknown>;
  const { level, time, component, msg, error } = fields;
  const parts = [String(level), component === program ? '' : textOrJson(component), textOrJson(msg)];
  if (error !== undefined && error !== msg) parts.push(textOrJson(error));
  const others = Object.entries(fields)
    .filter(([name]) => !OWN_FIELDS.includes(name))
    .map(([name, value]) => `${printable(name)}=${valueOf(value)}`);
  const suffix = others.length === 0 ? '' : ` (${others.join(', ')})`;
  const text = parts.filter((part) => part !== '').join(': ');
  return `${clockTime(new Date(String(time)))} ${text}${suffix}`;
}

const clockTime = (at: Date): string =>
  [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(TIME_DIGITS, '0')).join(':');

/** The text on one line. */
const textOrJson = (value: unknown): string =>
  typeof value === 'string'
    ? printable(value.trim().replaceAll(/\s*\n\s*/g, ' / '))
    : value === undefined
      ? ''
      : printable(JSON.stringify(value));

function valueOf(value: unknown): string {
  if (typeof value !== 'string') return printable(JSON.stringify(value));
  return /^[^\s",()=]+$/.test(value) ? printable(value) : printable(JSON.stringify(value));
}

const printable = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
