import { expect } from 'chai';
import { roleBindingWithDefaults } from '../../src/resources/role-binding.ts';
import { roleWithDefaults } from '../../src/resources/role.ts';
import {
  type AccessRequest,
  decideAccess,
  holds,
  holdsAllOf,
  policyOf,
  seesNamespace,
  type Subject,
  type Verb,
} from '../../src/rules/rbac.ts';

type Rules = NonNullable<Parameters<typeof roleWithDefaults>[0]['rules']>;

const rule = (verbs: string, resources: string, names?: string): Rules[number] => ({
  verbs: verbs.split(' ').filter((verb) => verb !== ''),
  resources: resources.split(' ').filter((resource) => resource !== ''),
  ...(names === undefined ? {} : { resource_names: names.split(' ') }),
});
const role = (name: string, rules: Rules, namespace?: string) =>
  roleWithDefaults({ rules, metadata: { name, namespace: namespace ?? null } });
const binding = (subject: string, ref: string, namespace?: string) => {
  const [type, name] = subject.split(':');
  const [kind, to] = ref.split(':');
  return roleBindingWithDefaults({
    subjects: [{ type: type ?? '', name: name ?? '' }],
    role_ref: { type: kind ?? '', name: to ?? '' },
    metadata: { name: `${subject} ${ref}`, namespace: namespace ?? null },
  });
};

const ANN: Subject = { username: 'ann', groups: ['ops'] };
const ask = (verb: Verb, resource: string, namespace?: string, name = ''): AccessRequest => ({
  verb,
  resource,
  namespace,
  name,
});

describe('access', () => {
  const inCluster = (rules: Rules, request: AccessRequest, subject = 'User:ann'): boolean =>
    decideAccess(
      policyOf({
        clusterRoles: [role('r', rules)],
        clusterRoleBindings: [binding(subject, 'ClusterRole:r')],
        roles: [],
        roleBindings: [],
      }),
      ANN,
      request,
    ).allowed;

  const rules: [string, Rules, AccessRequest, boolean][] = [
    ['the verb and the resource', [rule('get', 'checks')], ask('get', 'checks', 'dev', 'c'), true],
    ['another verb', [rule('list', 'checks')], ask('get', 'checks', 'dev', 'c'), false],
    ['another resource', [rule('get', 'events')], ask('get', 'checks', 'dev', 'c'), false],
    ['all verbs', [rule('*', 'checks')], ask('delete', 'checks', 'dev', 'c'), true],
    ['all resources', [rule('get', '*')], ask('get', 'ledger'), true],
    ['no verbs', [rule('', '*')], ask('get', 'checks', 'dev', 'c'), false],
    ['no resources', [rule('*', '')], ask('get', 'checks', 'dev', 'c'), false],
    ['its name', [rule('*', 'checks', 'c1 c2')], ask('get', 'checks', 'dev', 'c2'), true],
    ['another name', [rule('*', 'checks', 'c1')], ask('get', 'checks', 'dev', 'c2'), false],
    ['a name, for a list', [rule('*', 'checks', 'c1')], ask('list', 'checks', 'dev'), false],
    ['a name, for a creation', [rule('*', 'checks', 'c1')], ask('create', 'checks', 'dev'), false],
    ['an event by entity and check', [rule('*', 'events', 'e/c')], ask('create', 'events', 'dev', 'e/c'), true],
    ['a star as a name', [rule('*', 'checks', '*')], ask('get', 'checks', 'dev', 'c'), false],
    ['one of two rules', [rule('get', 'events'), rule('get', 'checks')], ask('get', 'checks', 'dev', 'c'), true],
    [
      'the verb and the resource in two rules',
      [rule('get', 'events'), rule('list', 'checks')],
      ask('get', 'checks', 'dev'),
      false,
    ],
  ];
  for (const [what, given, request, allowed] of rules) {
    it(`is ${allowed ? 'allowed' : 'denied'} by a rule on ${what}`, () => {
      expect(inCluster(given, request)).to.equal(allowed);
    });
  }

  const subjects: [string, boolean][] = [
    ['User:ann', true],
    ['Group:ops', true],
    ['User:ops', false],
    ['Group:ann', false],
    ['User:Ann', false],
    ['Users:ann', false],
  ];
  for (const [subject, allowed] of subjects) {
    it(`is ${allowed ? 'allowed' : 'denied'} to ann of group ops by a binding of ${subject}`, () => {
      expect(inCluster([rule('*', '*')], ask('get', 'checks', 'dev', 'c'), subject)).to.equal(allowed);
    });
  }

  describe('by a binding inside a namespace', () => {
    const policy = policyOf({
      clusterRoles: [role('view', [rule('get list', '*')])],
      clusterRoleBindings: [],
      roles: [role('edit', [rule('*', 'checks')], 'dev'), role('edit', [rule('*', 'events')], 'prod')],
      roleBindings: [
        binding('User:ann', 'Role:edit', 'dev'),
        binding('Group:ops', 'ClusterRole:view', 'prod'),
        binding('User:bob', 'Role:edit', 'prod'),
      ],
    });
    const cases: [AccessRequest, boolean][] = [
      [ask('update', 'checks', 'dev', 'c'), true],
      [ask('update', 'events', 'dev', 'e/c'), false],
      [ask('get', 'events', 'prod', 'e/c'), true],
      [ask('update', 'events', 'prod', 'e/c'), false],
      [ask('get', 'checks', 'test', 'c'), false],
      [ask('list', 'checks'), false],
      [ask('get', 'namespaces', 'prod', 'prod'), true],
      [ask('create', 'namespaces'), false],
    ];
    for (const [request, allowed] of cases) {
      const { verb, resource, namespace = 'all namespaces' } = request;
      it(`is ${allowed ? 'allowed' : 'denied'}: ${verb} ${resource} in ${namespace}`, () => {
        expect(decideAccess(policy, ANN, request).allowed).to.equal(allowed);
      });
    }
  });

  describe('by a binding whose role does not exist', () => {
    const missing = {
      clusterRoles: [],
      clusterRoleBindings: [binding('User:ann', 'ClusterRole:ghost')],
      roles: [role('all', [rule('*', '*')], 'dev')],
      roleBindings: [binding('User:ann', 'Role:phantom', 'prod'), binding('User:ann', 'Role:all', 'dev')],
    };

    it('is denied with the name of the first such role', () => {
      const result = decideAccess(policyOf(missing), ANN, ask('get', 'checks', 'prod', 'c'));
      expect(result).to.deep.equal({ allowed: false, missingRole: 'cluster role not found: ghost' });
    });

    it('is allowed when another binding allows', () => {
      expect(decideAccess(policyOf(missing), ANN, ask('get', 'checks', 'dev', 'c')).allowed).to.equal(true);
    });

    it('is denied when a cluster role binding names a role of a namespace', () => {
      const sources = { ...missing, clusterRoleBindings: [binding('User:ann', 'Role:all')], roleBindings: [] };
      const result = decideAccess(policyOf(sources), ANN, ask('get', 'checks', 'dev', 'c'));
      expect(result).to.deep.equal({ allowed: false, missingRole: 'role not found: all' });
    });

    it('is denied without a role name to users outside the binding', () => {
      const bob = { username: 'bob', groups: [] };
      const result = decideAccess(policyOf(missing), bob, ask('get', 'checks', 'prod', 'c'));
      expect(result).to.deep.equal({ allowed: false, missingRole: undefined });
    });
  });
});

describe('the visibility of a namespace', () => {
  const cluster: [string, Rules, boolean][] = [
    ['nothing', [], false],
    ['get on namespaces', [rule('get', 'namespaces')], true],
    ['list on namespaces', [rule('list', 'namespaces')], false],
    ['everything', [rule('*', '*')], true],
    ['get on the namespace by name', [rule('get', 'namespaces', 'dev')], true],
    ['get on another namespace by name', [rule('get', 'namespaces', 'prod')], false],
    ['get on a core resource', [rule('get', 'hooks')], true],
    ['get on a core resource by name', [rule('get', 'hooks', 'h')], true],
    ['get on users', [rule('get', 'users')], false],
    ['get on pipelines', [rule('get', 'pipelines')], false],
  ];
  for (const [what, rules, seen] of cluster) {
    it(`is ${seen ? 'given' : 'not given'} by the right to ${what}`, () => {
      const policy = policyOf({
        clusterRoles: [role('r', rules)],
        clusterRoleBindings: [binding('User:ann', 'ClusterRole:r')],
        roles: [],
        roleBindings: [],
      });
      expect(seesNamespace(policy, ANN, 'dev')).to.equal(seen);
    });
  }

  it('is given by any right to get something inside it, for that namespace only', () => {
    const policy = policyOf({
      clusterRoles: [],
      clusterRoleBindings: [],
      roles: [role('r', [rule('get', 'roles')], 'dev'), role('r', [rule('list', '*')], 'prod')],
      roleBindings: [binding('Group:ops', 'Role:r', 'dev'), binding('Group:ops', 'Role:r', 'prod')],
    });
    expect(['dev', 'prod', 'test'].filter((name) => seesNamespace(policy, ANN, name))).to.deep.equal(['dev']);
  });
});

describe('a user', () => {
  const policy = policyOf({
    clusterRoles: [role('reader', [rule('get list', 'checks hooks')]), role('all', [rule('*', '*')])],
    clusterRoleBindings: [binding('User:ann', 'ClusterRole:reader'), binding('Group:admins', 'ClusterRole:all')],
    roles: [
      role('writer', [rule('*', 'hooks'), rule('update', 'checks', 'c1 c2')], 'dev'),
      role('writer', [rule('*', 'hooks')], 'prod'),
    ],
    roleBindings: [
      binding('Group:ops', 'Role:writer', 'dev'),
      binding('User:bob', 'ClusterRole:reader', 'prod'),
      binding('User:zoe', 'Role:writer', 'prod'),
    ],
  });
  const cases: [string, Rules, string | undefined, boolean][] = [
    ['the granted resources', [rule('get', 'checks'), rule('list', 'hooks')], undefined, true],
    ['a granted resource, by name', [rule('get', 'checks', 'c1')], undefined, true],
    ['nothing', [rule('', 'checks'), rule('*', '')], undefined, true],
    ['one more verb', [rule('get delete', 'checks')], undefined, false],
    ['one more resource', [rule('get', 'checks users')], undefined, false],
    ['all verbs', [rule('*', 'checks')], undefined, false],
    ['what is granted in another namespace', [rule('delete', 'hooks')], 'prod', false],
    ['what is granted in that namespace', [rule('*', 'hooks'), rule('get', 'checks')], 'dev', true],
    ['what is granted in one namespace, everywhere', [rule('delete', 'hooks')], undefined, false],
    ['some of the names', [rule('update', 'checks', 'c2')], 'dev', true],
    ['another name', [rule('update', 'checks', 'c1 c3')], 'dev', false],
    ['all names', [rule('update', 'checks')], 'dev', false],
  ];
  for (const [what, rules, namespace, held] of cases) {
    it(`${held ? 'holds' : 'does not hold'} the right to ${what}`, () => {
      expect(holds(policy, ANN, roleWithDefaults({ rules }).rules, namespace)).to.equal(held);
    });
  }

  it('is compared quickly with a role when both have thousands of terms', function () {
    // Comparing all pairs of terms of all rules would take minutes.
    this.timeout(5_000);
    const terms = (what: string): string => Array.from({ length: 5_000 }, (_, n) => `${what}-${n}`).join(' ');
    const held = Array.from({ length: 5_000 }, (_, n) => rule('get', `resource-${n}`));
    const many = policyOf({
      clusterRoles: [role('many', held)],
      clusterRoleBindings: [binding('User:ann', 'ClusterRole:many')],
      roles: [],
      roleBindings: [],
    });
    const wanted = roleWithDefaults({ rules: [rule('get', terms('resource'))] }).rules;
    const repeated = wanted.map(({ resources }) => ({
      verbs: Array<string>(5_000).fill('get'),
      resources,
      resource_names: null,
    }));
    expect(holds(many, ANN, [...wanted, ...repeated], undefined)).to.equal(true);
    expect(holds(many, ANN, roleWithDefaults({ rules: [rule('get', terms('other'))] }).rules, undefined)).to.equal(
      false,
    );
  });

  const others: [string, Subject, boolean][] = [
    ['a user without rights', { username: 'eve', groups: ['guests'] }, true],
    ['the same user', ANN, true],
    ['a user with fewer rights', { username: 'bob', groups: [] }, true],
    ['a group of the user', { username: 'eve', groups: ['ops'] }, true],
    ['a user with more rights', { username: 'eve', groups: ['admins'] }, false],
    ['a user with more rights in a namespace', { username: 'zoe', groups: [] }, false],
  ];
  for (const [owner, other, held] of others) {
    it(`${held ? 'holds' : 'does not hold'} all rights of ${owner}`, () => {
      expect(holdsAllOf(policy, ANN, other)).to.equal(held);
    });
  }
});
