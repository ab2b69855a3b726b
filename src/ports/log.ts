type Fields = Record<string, unknown>;

/** What a part needs of the logger: `err` holds an error, messages are constant and in lower case. */
export interface Log {
  error(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  debug(fields: Fields, message: string): void;
  child(fields: Fields): Log;
}
