import { AlreadyExists, NotFound } from '../resources/errors.ts';
import { assertGroups, type User, userIsDisabled, wrongPassword } from '../resources/user.ts';
import { resourceKey } from '../store/keyspace.ts';
import { readResource } from '../store/resource-store.ts';
import { changedFields } from './changed-fields.ts';
import type { UserEdit } from './commands.ts';
import { assertLeavesAdministrator } from './last-administrator.ts';
import type { Scope } from './scope.ts';
import { endTokenSessions } from './token-session-changes.ts';

/** @throws AlreadyExists */
export function createUser(scope: Scope, user: User): void {
  if (storedUser(scope, user.username) !== undefined) throw new AlreadyExists();
  putUser(scope, user);
}

/** `keptSession` may go on when the password is another. @throws InvalidResource when no administrator would be left */
export function putUser(scope: Scope, user: User, keptSession?: string): void {
  const previous = storedUser(scope, user.username);
  if (previous !== undefined) assertLeavesAdministrator(scope.decision, previous, user);
  const isToProveAnew = user.disabled || user.password_hash !== previous?.password_hash;
  if (isToProveAnew) endTokenSessions(scope, user.username, user.disabled ? undefined : keptSession);
  scope.put('resources', resourceKey('users', undefined, user.username), user);
  if (previous === undefined) scope.reviseConfig('users', user.username, 'created', []);
  else scope.reviseConfig('users', user.username, 'updated', changedFields(previous, user));
}

/** An edit that changes nothing is not on record. @throws NotFound, InvalidResource */
export function editUser(scope: Scope, username: string, edit: UserEdit): void {
  const user = storedUser(scope, username);
  if (user === undefined) throw new NotFound('not found');
  const edited = editedUser(user, edit);
  const keptSession = edit.type === 'password.changed' ? edit.keptSession : undefined;
  if (changedFields(user, edited).length > 0) putUser(scope, edited, keptSession);
}

const storedUser = (scope: Scope, username: string): User | undefined =>
  readResource(scope.decision, 'users', undefined, username);

function editedUser(user: User, edit: UserEdit): User {
  const groups = user.groups ?? [];
  switch (edit.type) {
    case 'user.disabled':
      return { ...user, disabled: true };
    case 'user.reinstated':
      return { ...user, disabled: false };
    case 'group.added':
      return groups.includes(edit.group) ? user : withOneMore(user, [...groups, edit.group]);
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
      // The password was verified before this decision began: somebody may have changed it since.
      if (user.disabled) throw userIsDisabled(user.username);
      if (user.password_hash !== edit.verifiedHash) throw wrongPassword(user.username);
      return { ...user, password_hash: edit.passwordHash };
  }
}

/** @throws InvalidResource when they are too many */
function withOneMore(user: User, groups: string[]): User {
  assertGroups(groups);
  return { ...user, groups };
}

const withGroups = (user: User, groups: string[]): User => ({ ...user, groups: groups.length > 0 ? groups : null });
