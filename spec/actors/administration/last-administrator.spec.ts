import { expect } from 'chai';
import {
  assertLeavesAdministrator,
  changeLeavingAdministrator,
} from '../../../src/actors/administration/last-administrator.ts';
import { roleBindingWithDefaults } from '../../../src/resources/role-binding.ts';
import { roleWithDefaults, type Rule } from '../../../src/resources/role.ts';
import { userWithDefaults } from '../../../src/resources/user.ts';
import { Decision, type KeyedTableReader } from '../../../src/store/commit/decision.ts';
import { resourceKey } from '../../../src/store/encoding/keyspace.ts';
import type { Tables } from '../../../src/store/records/records.ts';
import { validationErrorOf } from '../../support/validation-error.ts';

const ADMIN = userWithDefaults({ username: 'admin', groups: ['owners', 'others'] });
const EVERYTHING = { verbs: ['*'], resources: ['*'] };
const BINDING = resourceKey('clusterrolebindings', undefined, 'owners');

/** An installation with one user, one cluster role and its binding. It counts the listings of keys. */
class Installation implements KeyedTableReader {
  listings = 0;
  readonly decision = new Decision(this);
  readonly #resources: Map<string, unknown>;

  constructor(user: typeof ADMIN, rule: Partial<Rule>) {
    const metadata = { name: 'owners' };
    const subjects = [{ type: 'Group', name: 'owners' }];
    const role_ref = { type: 'ClusterRole', name: 'owners' };
    this.#resources = new Map<string, unknown>([
      [resourceKey('users', undefined, user.username), user],
      [resourceKey('clusterroles', undefined, 'owners'), roleWithDefaults({ metadata, rules: [rule] })],
      [BINDING, roleBindingWithDefaults({ metadata, subjects, role_ref })],
    ]);
  }

  get<T extends keyof Tables>(_table: T, key: string): Tables[T] | undefined {
    return this.#resources.get(key) as Tables[T] | undefined;
  }

  keys(_table: keyof Tables, prefix: string): Set<string> {
    this.listings += 1;
    return new Set([...this.#resources.keys()].filter((key) => key.startsWith(prefix)));
  }

  unbind(): void {
    changeLeavingAdministrator(this.decision, 'clusterrolebindings', 'owners', () => {
      this.decision.delete('resources', BINDING);
    });
  }
}

describe('a change that removes rights', () => {
  it('is rejected when it would remove the last administrator', () => {
    const { decision } = new Installation(ADMIN, EVERYTHING);
    expect(validationErrorOf(() => new Installation(ADMIN, EVERYTHING).unbind())).to.match(
      /^no user with all rights would be left/,
    );
    const after = { ...ADMIN, groups: ['others'] };
    expect(validationErrorOf(() => assertLeavesAdministrator(decision, ADMIN, after))).to.match(/^admin is the last/);
  });

  const withoutAdministrator: [string, Installation][] = [
    ['is disabled', new Installation({ ...ADMIN, disabled: true }, EVERYTHING)],
    ['is not in the group', new Installation({ ...ADMIN, groups: ['others'] }, EVERYTHING)],
  ];
  for (const [what, installation] of withoutAdministrator) {
    it(`is allowed when there is no administrator, because the only user ${what}`, () => {
      installation.unbind();
      expect(installation.decision.get('resources', BINDING)).to.equal(undefined);
    });
  }

  it('needs no listing when the role does not grant everything', () => {
    const rules: Partial<Rule>[] = [
      { verbs: ['get', 'list', 'create', 'update', 'delete'], resources: ['*'] },
      { verbs: ['*'], resources: ['users', 'clusterroles'] },
      { ...EVERYTHING, resource_names: ['owners'] },
    ];
    for (const rule of rules) {
      const installation = new Installation(ADMIN, rule);
      installation.unbind();
      expect(installation.listings).to.equal(0);
    }
  });

  const kept: [string, typeof ADMIN, typeof ADMIN][] = [
    ['gets one more group', ADMIN, { ...ADMIN, groups: ['new', 'others', 'owners'] }],
    ['gets another password', ADMIN, { ...ADMIN, password_hash: 'new' }],
    ['is enabled again', { ...ADMIN, disabled: true }, ADMIN],
    ['was disabled and loses all groups', { ...ADMIN, disabled: true }, { ...ADMIN, disabled: true, groups: null }],
  ];
  for (const [what, before, after] of kept) {
    it(`needs no listing when a user ${what}`, () => {
      const installation = new Installation(before, EVERYTHING);
      assertLeavesAdministrator(installation.decision, before, after);
      expect(installation.listings).to.equal(0);
    });
  }
});
