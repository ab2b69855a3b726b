import { changedFields } from './changed-fields.ts';

/** The members from which rights follow, by kind. They contain no secrets. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  roles: ['rules'],
  clusterroles: ['rules'],
  rolebindings: ['subjects', 'role_ref'],
  clusterrolebindings: ['subjects', 'role_ref'],
  users: ['groups', 'disabled'],
  // A key has the rights of its user. Its name is public; its hash is not recorded.
  apikeys: ['username', 'created_at'],
};

/** The rights that followed from a resource before and after a change; a side on which it does not exist is absent. */
export interface RecordedRights {
  before?: object;
  after?: object;
}

/** Returns the rights before and after a change, for the ledger. Empty when the change affects no right. */
export function recordedRights(kind: string, before: object | undefined, after: object | undefined): RecordedRights {
  const members = MEMBERS[kind];
  if (members === undefined) return {};
  const rightsOf = (resource: object): object =>
    Object.fromEntries(Object.entries(resource).filter(([name]) => members.includes(name)));
  const [old, now] = [before && rightsOf(before), after && rightsOf(after)];
  if (old !== undefined && now !== undefined && changedFields(old, now).length === 0) return {};
  return { ...(old && { before: old }), ...(now && { after: now }) };
}
