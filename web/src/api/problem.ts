/** An unsuccessful answer of the backend, or a missing one. */
export class Problem extends Error {
  /** The HTTP status; 0 when the backend could not be reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The message of an error that is shown to the user. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
