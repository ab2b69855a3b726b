import type { Log } from '../../src/ports/log.ts';

export interface LogLine {
  level: string;
  msg: string;
  fields: Record<string, unknown>;
}

/** A log that keeps its lines in memory. Child logs write to the same list. */
export class RecordedLog implements Log {
  readonly lines: LogLine[];
  readonly #bound: Record<string, unknown>;

  constructor(bound: Record<string, unknown> = {}, lines: LogLine[] = []) {
    this.#bound = bound;
    this.lines = lines;
  }

  /** Lines of level `error`. */
  get errors(): LogLine[] {
    return this.lines.filter(({ level }) => level === 'error');
  }

  error(fields: Record<string, unknown>, message: string): void {
    this.#write('error', fields, message);
  }

  warn(fields: Record<string, unknown>, message: string): void {
    this.#write('warn', fields, message);
  }

  info(fields: Record<string, unknown>, message: string): void {
    this.#write('info', fields, message);
  }

  debug(fields: Record<string, unknown>, message: string): void {
    this.#write('debug', fields, message);
  }

  child(fields: Record<string, unknown>): RecordedLog {
    return new RecordedLog({ ...this.#bound, ...fields }, this.lines);
  }

  #write(level: string, fields: Record<string, unknown>, msg: string): void {
    this.lines.push({ level, msg, fields: { ...this.#bound, ...fields } });
  }
}
