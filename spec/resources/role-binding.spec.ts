import { expect } from 'chai';
import {
  assertClusterRoleBinding,
  assertRoleBinding,
  parseClusterRoleBindingShape,
  parseRoleBindingShape,
} from '../../src/resources/role-binding.ts';
import { testValidation } from './validation-cases.ts';

const subjects = [{ type: 'User', name: 'ann' }];

describe('a role binding', () => {
  const valid = {
    metadata: { name: 'b', namespace: 'default' },
    subjects,
    role_ref: { type: 'Role', name: 'r' },
  };
  const expected = (type: string) => `roleRef type "${type}" is invalid, expected either "ClusterRole" or "Role"`;
  testValidation({ parse: parseRoleBindingShape, assert: assertRoleBinding, valid }, [
    [{}, undefined],
    [{ role_ref: { type: 'clusterRole', name: 'r' }, subjects: [{ type: 'group', name: 'ops' }] }, undefined],
    [{ metadata: {} }, 'the RoleBinding name must not be empty'],
    [{ metadata: { name: 'b' } }, 'the RoleBinding namespace must be set'],
    [{ role_ref: null, subjects: [] }, expected('')],
    [{ role_ref: { type: 'clusterrole', name: 'r' } }, expected('Clusterrole')],
    [{ role_ref: { type: 'Role' } }, 'roleRef name for Role is required'],
    [{ subjects: [] }, 'a RoleBinding must have at least one subject'],
    [
      { subjects: [{ type: 'Users', name: 'x' }] },
      'subject type "Users" is invalid, expected either "Group" or "User"',
    ],
    [{ subjects: [{ type: 'user' }] }, 'subject name for the "User" type is required'],
  ]);

  it('capitalises its types', () => {
    const { role_ref: role, subjects: bound } = parseRoleBindingShape({
      role_ref: { type: 'clusterRole', name: 'r' },
      subjects: [{ type: 'user', name: 'x' }],
    });
    expect([role.type, bound[0]?.type]).to.deep.equal(['ClusterRole', 'User']);
  });
});

describe('a cluster role binding', () => {
  const valid = { metadata: { name: 'b' }, subjects, role_ref: { type: 'ClusterRole', name: 'r' } };
  testValidation({ parse: parseClusterRoleBindingShape, assert: assertClusterRoleBinding, valid }, [
    [{}, undefined],
    [{ metadata: { name: 'b', namespace: 'default' } }, 'ClusterRoleBinding cannot have a namespace'],
    [
      { role_ref: { type: 'Role', name: 'r' } },
      'a ClusterRoleBinding must refer to a ClusterRole: a Role belongs to one namespace',
    ],
    [{ subjects: [] }, 'a ClusterRoleBinding must have at least one subject'],
  ]);
});
