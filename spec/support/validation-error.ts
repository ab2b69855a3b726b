import { InvalidResource } from '../../src/resources/errors.ts';

/** Returns the message of the `InvalidResource` that `attempt` throws, or undefined if it throws none. @throws any other error */
export function validationErrorOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
}
