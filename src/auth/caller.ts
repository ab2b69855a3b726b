import type { Subject } from '../rules/rbac.ts';

/** The user who sends a request, with the groups that apply to it. */
export interface Caller extends Subject {
  /** Id of the session that the access token belongs to. Requests with an API key have none. */
  session?: string;
  /** Name of the API key that authenticates the request, if any. */
  key?: string;
}
