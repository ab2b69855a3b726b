import type { Commands } from '../../actors/administration/commands.ts';
import type { UserEdit } from '../../actors/administration/user-changes.ts';
import { AlreadyExists, InvalidResource, NotFound } from '../../resources/errors.ts';
import { assertUsername, isName } from '../../resources/names.ts';
import { withoutMembers } from '../../resources/schema.ts';
import {
  parsePasswordRequest,
  parseUserRequest,
  PasswordRequestSchema,
  shownUser,
  type User,
  userIsDisabled,
  UserRequestSchema,
  UserSchema,
  wrongPassword,
} from '../../resources/user.ts';
import type { Subject, Verb } from '../../rules/rbac.ts';
import { mapPage } from '../../store/page.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { AccessControl } from '../../auth/access-control.ts';
import { CREATED, NO_CONTENT } from '../answer/answers.ts';
import type { CredentialVerifier, PasswordHasher } from '../../auth/credentials.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import type { LoginThrottle } from '../../auth/login-throttle.ts';
import { creates, EMPTY, lists, replaces, shows } from '../openapi/descriptions.ts';
import { type Answer, CORE, param, type Route, type RouteRequest } from '../request/route.ts';
import { selectedList } from '../answer/selected-page.ts';
import { validatedBcrypt, hashForStorage } from '../../auth/password-policy.ts';

export interface UserRoutePorts {
  resources: Pick<ResourceStore, 'get' | 'lazyList'>;
  commands: Pick<Commands, 'createUser' | 'putUser' | 'editUser'>;
  access: Pick<AccessControl, 'assertHoldsAllOf'>;
  credentials: CredentialVerifier & PasswordHasher;
  throttle: Pick<LoginThrottle, 'login'>;
}

const KIND = 'users';
const USERS = `${CORE}/users`;
const USER = `${USERS}/:name`;
const NAME = ['name'] as const;
/** The resource name for access to the caller's own user. */
const SELF = 'localselfuser';
const ShownSchema = withoutMembers(UserSchema, ['password_hash'], { $id: 'core/v2.User.shown' });

export function userRoutes(ports: UserRoutePorts): Route[] {
  return [...readingRoutes(ports), ...writingRoutes(ports), ...passwordRoutes(ports), ...editingRoutes(ports)];
}

function readingRoutes({ resources }: UserRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: USERS,
      access: { resource: KIND, verb: 'list' },
      reads: 'nothing',
      description: lists('users', ShownSchema),
      handle: (request) =>
        selectedList(KIND, request, (page) => mapPage(resources.lazyList(KIND, undefined, page), shownUser)),
    },
    {
      method: 'GET',
      path: USER,
      access: { resource: KIND, ownResource: SELF, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      description: shows('a user', ShownSchema),
      handle: (request) => {
        const user = storedUser(resources, param(request, 'name'));
        return taggedJson(user, shownUser(user));
      },
    },
  ];
}

function writingRoutes({ resources, commands, access, credentials }: UserRoutePorts): Route[] {
  return [
    {
      method: 'POST',
      path: USERS,
      access: { resource: KIND, verb: 'create' },
      reads: 'json',
      description: creates('a user with a password or its bcrypt hash', UserRequestSchema),
      handle: async ({ body, caller }) => {
        const { user, sent } = parseUserRequest(body);
        // An existing name is rejected first, before a password is hashed.
        if (findUser(resources, user.username) !== undefined) throw new AlreadyExists();
        assertUsername(user.username);
        assertMayBecome(access, caller, user);
        const passwordHash = await hashForStorage(sent, credentials);
        await commands.createUser({ ...user, password_hash: passwordHash }, caller.username);
        return CREATED;
      },
    },
    {
      method: 'PUT',
      path: USER,
      access: { resource: KIND, verb: 'update', nameFrom: NAME },
      reads: 'json',
      description: replaces('a user', UserRequestSchema),
      handle: async (request) => {
        const { user, sent } = parseUserRequest(request.body);
        assertSameUsername(user.username, param(request, 'name'));
        assertUsername(user.username);
        for (const one of [user, findUser(resources, user.username) ?? user]) {
          assertMayBecome(access, request.caller, one);
        }
        const passwordHash = await hashForStorage(sent, credentials);
        await commands.putUser({ ...user, password_hash: passwordHash }, request.caller.username);
        return CREATED;
      },
    },
  ];
}

function passwordRoutes({ resources, commands, access, credentials, throttle }: UserRoutePorts): Route[] {
  /** A wrong password counts as a failed login. @throws InvalidResource, TooManyLogins, Overloaded */
  const verified = async (username: string, password: string, remoteAddress: string): Promise<User> => {
    const user = await throttle.login({ username, remoteAddress, entryPoint: 'api' }, (onGuess) =>
      credentials.verify(username, password, onGuess),
    );
    if (user === undefined) throw wrongPassword(username);
    return user;
  };

  return [
    {
      method: 'PUT',
      path: `${USER}/password`,
      access: { resource: KIND, ownResource: SELF, verb: 'update', nameFrom: NAME },
      reads: 'json',
      description: {
        summary: 'Change a password, given the current one',
        body: PasswordRequestSchema,
        answers: { 201: EMPTY },
        errors: ['too-many-logins'],
      },
      handle: async (request) => {
        const { password, passwordHash } = parsePasswordRequest(request.body);
        const { username, disabled } = storedUser(resources, param(request, 'name'));
        if (disabled) throw userIsDisabled(username);
        const user = await verified(username, password, request.remoteAddress);
        const edit: UserEdit = {
          type: 'password.changed',
          passwordHash: validatedBcrypt(passwordHash),
          verifiedHash: user.password_hash,
          keptSession: request.caller.username === username ? request.caller.session : undefined,
        };
        await commands.editUser(username, edit, request.caller.username);
        return CREATED;
      },
    },
    {
      method: 'PUT',
      path: `${USER}/reset_password`,
      access: { resource: KIND, verb: 'update', nameFrom: NAME },
      reads: 'json',
      description: { summary: 'Reset a password', body: PasswordRequestSchema, answers: { 201: EMPTY } },
      handle: async (request) => {
        const { passwordHash } = parsePasswordRequest(request.body);
        const user = storedUser(resources, param(request, 'name'));
        assertMayBecome(access, request.caller, user);
        const { username } = user;
        const edit: UserEdit = { type: 'password.reset', passwordHash: validatedBcrypt(passwordHash) };
        await commands.editUser(username, edit, request.caller.username);
        return CREATED;
      },
    },
  ];
}

function editingRoutes({ resources, commands, access }: UserRoutePorts): Route[] {
  const editing = (
    [method, path]: readonly ['PUT' | 'DELETE', string],
    summary: string,
    verb: Verb,
    answer: Answer,
    editOf: (request: RouteRequest) => UserEdit,
  ): Route => ({
    method,
    path,
    access: { resource: KIND, verb, nameFrom: NAME },
    reads: 'nothing',
    description: { summary, answers: { [answer.status]: EMPTY } },
    handle: async (request) => {
      await commands.editUser(param(request, 'name'), editOf(request), request.caller.username);
      return answer;
    },
  });
  const group = (request: RouteRequest): string => param(request, 'group');
  return [
    editing(['DELETE', USER], 'Disable a user', 'delete', NO_CONTENT, () => ({ type: 'user.disabled' })),
    editing(['PUT', `${USER}/reinstate`], 'Reinstate a disabled user', 'update', CREATED, (request) => {
      assertMayBecome(access, request.caller, storedUser(resources, param(request, 'name')));
      return { type: 'user.reinstated' };
    }),
    editing(['PUT', `${USER}/groups/:group`], 'Add a user to a group', 'update', CREATED, (request) => {
      const user = storedUser(resources, param(request, 'name'));
      assertMayBecome(access, request.caller, { ...user, groups: [...(user.groups ?? []), group(request)] });
      return { type: 'group.added', group: group(request) };
    }),
    editing(['DELETE', `${USER}/groups/:group`], 'Remove a user from a group', 'delete', NO_CONTENT, (request) => ({
      type: 'group.removed',
      group: group(request),
    })),
    editing(['DELETE', `${USER}/groups`], 'Remove a user from all groups', 'delete', NO_CONTENT, () => ({
      type: 'groups.cleared',
    })),
  ];
}

/** A caller who sets a password, adds a group or reinstates a user gains the rights of that user. @throws Forbidden */
function assertMayBecome(access: UserRoutePorts['access'], caller: Subject, { username, groups }: User): void {
  access.assertHoldsAllOf(caller, { username, groups: groups ?? [] });
}

/** An invalid name belongs to no user. */
const findUser = (resources: Pick<ResourceStore, 'get'>, username: string): User | undefined =>
  isName(username) ? resources.get(KIND, undefined, username) : undefined;

/** @throws NotFound */
function storedUser(resources: Pick<ResourceStore, 'get'>, username: string): User {
  const user = findUser(resources, username);
  if (user === undefined) throw new NotFound();
  return user;
}

/** @throws InvalidResource */
function assertSameUsername(inBody: string, inPath: string): void {
  if (inBody === inPath) return;
  throw new InvalidResource(`the username (${inBody}) does not match the username on the request (${inPath})`);
}
