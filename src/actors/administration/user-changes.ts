import { AlreadyExists, NotFound } from '../../resources/errors.ts';
import { assertGroups, type User, userIsDisabled, wrongPassword } from '../../resources/user.ts';
import { resourceKey } from '../../store/keyspace.ts';
import { readResource } from '../../store/resource-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import type { UserEdit } from './commands.ts';
import { assertLeavesAdministrator } from './last-administrator.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { endTokenSessions } from './token-session-changes.ts';

/** @throws AlreadyExists */
export function createUser(ctx: DecisionContext, user: User): void {
  if (storedUser(ctx, user.username) !== undefined) throw new AlreadyExists();
  putUser(ctx, user);
}

/** `keptSession` may go on when the password is another. @throws InvalidResource when no administrator would be left */
export function putUser(ctx: DecisionContext, user: User, keptSession?: string): void {
  const previous = storedUser(ctx, user.username);
  if (previous !== undefined) assertLeavesAdministrator(ctx.decision, previous, user);
  const isToProveAnew = user.disabled || user.password_hash !== previous?.password_hash;
  if (isToProveAnew) endTokenSessions(ctx, user.username, user.disabled ? undefined : keptSession);
  ctx.put('resources', resourceKey('users', undefined, user.username), user);
  if (previous === undefined) ctx.reviseConfig('users', user.username, 'created', []);
  else ctx.reviseConfig('users', user.username, 'updated', changedFields(previous, user));
}

/** An edit that changes nothing is not on record. @throws NotFound, InvalidResource */
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
