import type { Subject } from '../rules/rbac.ts';

/** The user who sends a request, with the groups that count for it. */
export interface Caller extends Subject {
  /** Id of the session that the access token belongs to; a key has none. */
  session?: string;
  /** Name of the API key that was sent, if one was. */
  key?: string;
}
