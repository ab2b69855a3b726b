/** An answer of the backend that is not a success, or none at all. */
export class Problem extends Error {
  /** The HTTP status; 0 when the backend could not be reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What a person should read about an error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
