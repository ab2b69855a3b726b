import { isatty } from 'node:tty';
import { inspect } from 'node:util';
import { type DestinationStream, destination, type Logger as PinoLogger, pino, stdSerializers } from 'pino';
import type { LogLevel } from '../../config/parsing/flags.ts';
import type { Log } from '../../ports/log.ts';
import { REDACTED } from '../../resources/redaction.ts';
import { terminalLines } from './terminal-lines.ts';

const SEVERITY: Record<LogLevel, number> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 };
/** The levels that `stepLevel` visits, each more verbose than the one before. The first follows the last. */
const STEPS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug', 'trace'];

/** Limit of the lines that wait for a slow reader. Newer lines are dropped above it. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

const SECRETS: ReadonlySet<string> = new Set([
  'password',
  'password_hash',
  'passwordHash',
  'authorization',
  'Authorization',
  'token',
  'access_token',
  'refresh_token',
  'secret',
  'secrets',
  'api_key',
  'apiKey',
  'api-key',
]);

/** The program's log: one line per record, JSON or, on a terminal, text. Children share the level of the logger they come from. */
export interface Logger extends Log {
  /** Logs the reason why the program ends. */
  fatal(fields: Record<string, unknown>, message: string): void;
  /** Resolves when every line is written, at the latest after a second. A process that ends before it may write lines out of order. */
  drained(): Promise<void>;
  child(fields: Record<string, unknown>): Logger;
  setLevel(level: LogLevel): void;
  /** Writes all further lines there, and fatal ones to the former destination as well. Children follow. */
  redirect(lines: Lines): void;
  /** Logs a warning at every level, without a component. */
  always(message: string): void;
  /** Makes the log one step more verbose; `error` follows the last step. Returns the new level. */
  stepLevel(): LogLevel;
}

interface Threshold {
  level: LogLevel;
}

/** The destination of the lines. */
export interface Lines extends DestinationStream {
  flush?(done: () => void): void;
}

const STANDARD_ERROR = 2;
/** pino begins each line with its level. */
const FATAL_LINE = '{"level":"fatal"';
const DRAIN_LIMIT_MS = 1_000;

/** A level as lines show it. */
export const shownLevel = (level: LogLevel): string => (level === 'warn' ? 'warning' : level);

/** Ends the process after its log lines are written. */
export async function exitWith(code: number, log: Logger): Promise<never> {
  await log.drained();
  process.exit(code);
}

/**
 * Characters that JSON leaves as they are: delete, the controls above it, which terminals obey, and the separators of lines and
 * paragraphs, at which some programs split lines.
 */
const OTHER_CONTROLS = /[\u007f-\u009f\u2028\u2029]/;

/** Escapes them as JSON allows for any character. */
const withoutControls = (line: string): string =>
  line.replaceAll(
    new RegExp(OTHER_CONTROLS, 'g'),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Lines that can be redirected while loggers use them. */
class RedirectableLines implements Lines {
  readonly #first: Lines;
  #current: Lines;

  constructor(first: Lines) {
    this.#first = first;
    this.#current = first;
  }

  redirect(lines: Lines): void {
    this.#current = lines;
  }

  write(text: string): void {
    const line = OTHER_CONTROLS.test(text) ? withoutControls(text) : text;
    this.#current.write(line);
    // The first destination shows why the program ended.
    if (this.#current !== this.#first && line.startsWith(FATAL_LINE)) this.#first.write(line);
  }

  flush(done: () => void): void {
    const destinations = new Set([this.#first, this.#current]);
    const flushed = [...destinations].map(
      (lines) => new Promise<void>((resolve) => (lines.flush === undefined ? resolve() : lines.flush(resolve))),
    );
    void Promise.all(flushed).then(() => {
      done();
    });
  }
}

class LineLogger implements Logger {
  readonly #out: RedirectableLines;
  readonly #lines: PinoLogger;
  readonly #fields: Record<string, unknown>;
  readonly #threshold: Threshold;

  constructor(out: RedirectableLines, lines: PinoLogger, fields: Record<string, unknown>, threshold: Threshold) {
    this.#out = out;
    this.#lines = lines;
    this.#fields = fields;
    this.#threshold = threshold;
  }

  fatal(fields: object, message: string): void {
    this.#write('fatal', fields, message);
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message);
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message);
  }

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message);
  }

  child(fields: Record<string, unknown>): Logger {
    return new LineLogger(this.#out, this.#lines, { ...this.#fields, ...fields }, this.#threshold);
  }

  async drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, DRAIN_LIMIT_MS).unref();
      this.#out.flush(resolve);
    });
  }

  redirect(lines: Lines): void {
    this.#out.redirect(lines);
  }

  setLevel(level: LogLevel): void {
    this.#threshold.level = level;
  }

  always(message: string): void {
    this.#lines.warn(message);
  }

  stepLevel(): LogLevel {
    const next = STEPS[(STEPS.indexOf(this.#threshold.level) + 1) % STEPS.length] ?? 'error';
    this.#threshold.level = next;
    return next;
  }

  #write(level: LogLevel, fields: object, message: string): void {
    if (SEVERITY[level] < SEVERITY[this.#threshold.level]) return;
    this.#lines[level]({ ...this.#fields, ...fields }, message);
  }
}

/** Censors the values of secrets in the fields and one level below. Returns the same object when there are none. */
function redact(fields: Record<string, unknown>): Record<string, unknown> {
  const outer = censored(fields);
  let redacted = outer;
  for (const [name, value] of Object.entries(outer)) {
    if (typeof value !== 'object' || value === null) continue;
    const inner = censored(value as Record<string, unknown>);
    if (inner !== value) redacted = { ...redacted, [name]: inner };
  }
  return redacted;
}

function censored(fields: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(fields).filter((name) => SECRETS.has(name) && fields[name] !== undefined);
  return names.length === 0 ? fields : { ...fields, ...Object.fromEntries(names.map((name) => [name, REDACTED])) };
}

/** Returns the messages of the error and its causes. The stack is added for unexpected errors only, which have no code. */
function describeError({ err, ...fields }: Record<string, unknown>): Record<string, unknown> {
  if (!(err instanceof Error)) return err === undefined ? fields : { ...fields, error: inspect(err) };
  const { stack } = stdSerializers.err(err);
  return { ...fields, error: messagesOf(err), ...('code' in err ? {} : { stack }) };
}

/** The messages of an error and its causes. Many errors have the message of their cause in their own: it is not repeated. */
function messagesOf(error: Error): string {
  const seen = new Set<Error>();
  const messages: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && !seen.has(cause); cause = cause.cause) {
    seen.add(cause);
    const { message } = cause;
    if (!messages.some((text) => text.includes(message))) messages.push(message);
  }
  return messages.join(': ');
}

const formatFields = (fields: Record<string, unknown>): Record<string, unknown> => redact(describeError(fields));

/** Writes to standard error. A closed pipe or a full disk stops the lines, not the program. */
function standardError(): Lines {
  // With a `minLength` of 0, the default, `flush` calls back before all lines are written.
  const stream = destination({ fd: STANDARD_ERROR, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES });
  let broken = false;
  stream.on('error', () => {
    broken = true;
  });
  return {
    write(line) {
      if (!broken) stream.write(line);
    },
    flush(done) {
      if (broken) done();
      else stream.flush(done);
    },
  };
}

/** JSON lines, unless standard error is a terminal. */
const linesFor = (program: string): Lines =>
  isatty(STANDARD_ERROR) ? terminalLines(standardError(), program) : standardError();

/** Creates a logger that adds `component` to every line and redacts secrets in the fields and one level below. */
export function createLogger(component: string, level: LogLevel, lines: Lines = linesFor(component)): Logger {
  const options = {
    base: null,
    level: 'trace',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: shownLevel(label as LogLevel) }), log: formatFields },
  };
  const out = new RedirectableLines(lines);
  return new LineLogger(out, pino(options, out), { component }, { level });
}
