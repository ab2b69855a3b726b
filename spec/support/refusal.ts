import { InvalidResource } from '../../src/resources/errors.ts';

/** The message with which `attempt` refuses a resource, undefined when it does not. Any other error is thrown on. */
export function refusalOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
}
