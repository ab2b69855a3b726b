type Fields = Record<string, unknown>;

/** The logger as parts use it: the field `err` holds an error, and messages are constant and in lower case. */
export interface Log {
  error(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  debug(fields: Fields, message: string): void;
  child(fields: Fields): Log;
}
