import { AlreadyExists, NotFound } from '../../resources/errors.ts';
import { assertGroups, type User, userIsDisabled, wrongPassword } from '../../resources/user.ts';
import { resourceKey } from '../../store/encoding/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import { recordedRights } from '../core/recorded-rights.ts';
import { assertLeavesAdministrator } from './last-administrator.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { endTokenSessions } from './token-session-changes.ts';

/** A change of an existing user. */
export type UserEdit =
  | { type: 'user.disabled' }
  | { type: 'user.reinstated' }
  | { type: 'group.added'; group: string }
  | { type: 'group.removed'; group: string }
  | { type: 'groups.cleared' }
  | { type: 'password.reset'; passwordHash: string }
  /** Sets the password if `verifiedHash`, the hash of the old one, is still stored. Ends the user's sessions except `keptSession`. */
  | { type: 'password.changed'; passwordHash: string; verifiedHash: string; keptSession: string | undefined };

/** @throws AlreadyExists */
export function createUser(ctx: DecisionContext, user: User): void {
  if (storedUser(ctx, user.username) !== undefined) throw new AlreadyExists();
  putUser(ctx, user);
}

/** A new password ends all login sessions but `keptSession`. @throws InvalidResource when no administrator would be left */
export function putUser(ctx: DecisionContext, user: User, keptSession?: string): void {
  const previous = storedUser(ctx, user.username);
  if (previous !== undefined) assertLeavesAdministrator(ctx.decision, previous, user);
  const mustLogInAgain = user.disabled || user.password_hash !== previous?.password_hash;
  if (mustLogInAgain) endTokenSessions(ctx, user.username, user.disabled ? undefined : keptSession);
  ctx.put('resources', resourceKey('users', undefined, user.username), user);
  const rights = recordedRights('users', previous, user);
  if (previous === undefined) ctx.reviseConfig('users', user.username, 'created', [], rights);
  else ctx.reviseConfig('users', user.username, 'updated', changedFields(previous, user), rights);
}

/** The ledger does not record an edit that changes nothing. @throws NotFound, InvalidResource */
export function editUser(ctx: DecisionContext, username: string, edit: UserEdit): void {
  const user = storedUser(ctx, username);
  if (user === undefined) throw new NotFound('not found');
  const edited = editedUser(user, edit);
  const keptSession = edit.type === 'password.changed' ? edit.keptSession : undefined;
  if (changedFields(user, edited).length > 0) putUser(ctx, edited, keptSession);
}

const storedUser = (ctx: DecisionContext, username: string): User | undefined =>
  readResource(ctx.decision, 'users', undefined, username);

function editedUser(user: User, edit: UserEdit): User {
  const groups = user.groups ?? [];
  switch (edit.type) {
    case 'user.disabled':
      return { ...user, disabled: true };
    case 'user.reinstated':
      return { ...user, disabled: false };
    case 'group.added':
      return groups.includes(edit.group) ? user : withAddedGroup(user, edit.group);
    case 'group.removed':
      return withGroups(
        user,
        groups.filter((group) => group !== edit.group),
      );
    case 'groups.cleared':
      return withGroups(user, []);
    case 'password.reset':
      return { ...user, password_hash: edit.passwordHash };
    case 'password.changed':
      // The password was verified before this decision began, and may have changed since.
      if (user.disabled) throw userIsDisabled(user.username);
      if (user.password_hash !== edit.verifiedHash) throw wrongPassword(user.username);
      return { ...user, password_hash: edit.passwordHash };
  }
}

/** @throws InvalidResource when the groups are too many */
function withAddedGroup(user: User, group: string): User {
  const groups = [...(user.groups ?? []), group];
  assertGroups(groups);
  return { ...user, groups };
}

const withGroups = (user: User, groups: string[]): User => ({ ...user, groups: groups.length > 0 ? groups : null });
