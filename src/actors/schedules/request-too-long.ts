import { InvalidResource } from '../../resources/errors.ts';

/** The request of a check exceeds a bound, so that no agent is asked. */
export class RequestTooLong extends InvalidResource {}
