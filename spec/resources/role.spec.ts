import { expect } from 'chai';
import { assertClusterRole, assertRole, parseClusterRoleShape, parseRoleShape } from '../../src/resources/role.ts';
import { testRefusals } from './refusals.ts';

const rules = [{ verbs: ['get'], resources: ['checks'] }];

describe('a role', () => {
  const valid = { metadata: { name: 'r', namespace: 'default' }, rules };
  testRefusals({ parse: parseRoleShape, assert: assertRole, valid }, [
    [{}, undefined],
    [{ rules: [{}] }, undefined],
    [{ rules: [{ verbs: ['*', 'get,list'], resources: ['nothings'] }] }, undefined],
    [{ metadata: { name: 'a:b:c' } }, 'the Role name cannot contain spaces or special characters'],
    [{ metadata: { name: 'r' } }, 'the Role namespace must be set'],
    [{ rules: [] }, 'a Role must have at least one rule'],
    [{ rules: [{ verbs: ['GET'] }] }, 'the verb "GET" is not valid'],
    [{ rules: [{ verbs: ['get, list'] }] }, 'the verb " list" is not valid'],
    [{ rules: [{ verbs: [''] }] }, 'the verb "" is not valid'],
  ]);

  it('has its verbs and resources one by one, and names as they were sent', () => {
    const sent = { rules: [{ verbs: ['get,list'], resources: ['checks,events', 'hooks'], resource_names: ['a,b'] }] };
    expect(parseRoleShape(sent).rules).to.deep.equal([
      { verbs: ['get', 'list'], resources: ['checks', 'events', 'hooks'], resource_names: ['a,b'] },
    ]);
    expect(parseRoleShape({ rules: [{ verbs: [] }] }).rules).to.deep.equal([
      { verbs: null, resources: null, resource_names: null },
    ]);
  });
});

describe('a cluster role', () => {
  testRefusals({ parse: parseClusterRoleShape, assert: assertClusterRole, valid: { metadata: { name: 'r' }, rules } }, [
    [{}, undefined],
    [{ metadata: {} }, 'the ClusterRole name must not be empty'],
    [{ metadata: { name: 'r', namespace: 'default' } }, 'ClusterRole cannot have a namespace'],
    [{ rules: null }, 'a ClusterRole must have at least one rule'],
  ]);
});
