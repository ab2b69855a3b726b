import { expect } from 'chai';
import { assertClusterRole, assertRole, parseClusterRoleShape, parseRoleShape } from '../../src/resources/role.ts';
import { validationErrorOf } from '../support/validation-error.ts';
import { testValidation } from './validation-cases.ts';

const terms = (count: number): string[] => Array.from({ length: count }, (_, n) => `term-${n}`);
const rules = [{ verbs: ['get'], resources: ['checks'] }];

describe('a role', () => {
  const valid = { metadata: { name: 'r', namespace: 'default' }, rules };
  testValidation({ parse: parseRoleShape, assert: assertRole, valid }, [
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

  it('is stored with separate verbs and resources, without duplicates, and with the names that were sent', () => {
    const sent = { rules: [{ verbs: ['get,list'], resources: ['checks,events', 'hooks'], resource_names: ['a,b'] }] };
    expect(parseRoleShape(sent).rules).to.deep.equal([
      { verbs: ['get', 'list'], resources: ['checks', 'events', 'hooks'], resource_names: ['a,b'] },
    ]);
    const repeated = { verbs: ['get,get', 'get'], resources: ['b,a', 'a'], resource_names: ['c', 'c'] };
    expect(parseRoleShape({ rules: [repeated] }).rules).to.deep.equal([
      { verbs: ['get'], resources: ['b', 'a'], resource_names: ['c'] },
    ]);
    expect(parseRoleShape({ rules: [{ verbs: [] }] }).rules).to.deep.equal([
      { verbs: null, resources: null, resource_names: null },
    ]);
  });
});

describe('the size limit of a role', () => {
  const errorOf = (sent: object[]): string | undefined =>
    validationErrorOf(() => assertRole(parseRoleShape({ metadata: { name: 'r', namespace: 'default' }, rules: sent })));

  it('is at most a thousand rules', () => {
    expect(errorOf(Array<object>(1_000).fill({}))).to.equal(undefined);
    expect(errorOf(Array<object>(1_001).fill({}))).to.equal('a Role must have at most 1000 rules');
  });

  it('is at most a thousand verbs, resources and names together in a rule', () => {
    const rule = { verbs: ['get'], resources: terms(499), resource_names: terms(500) };
    expect(errorOf([rule, rule])).to.equal(undefined);
    const message = 'a rule must have at most 1000 verbs, resources and names';
    expect(errorOf([rule, { ...rule, verbs: ['get,list'] }])).to.equal(message);
    expect(errorOf([{ ...rule, verbs: Array<string>(5_000).fill('get,get') }])).to.equal(undefined);
  });
});

describe('a cluster role', () => {
  testValidation(
    { parse: parseClusterRoleShape, assert: assertClusterRole, valid: { metadata: { name: 'r' }, rules } },
    [
      [{}, undefined],
      [{ metadata: {} }, 'the ClusterRole name must not be empty'],
      [{ metadata: { name: 'r', namespace: 'default' } }, 'ClusterRole cannot have a namespace'],
      [{ rules: null }, 'a ClusterRole must have at least one rule'],
    ],
  );
});
