import { expect } from 'chai';
import { assertSecret, parseSecretShape } from '../../src/resources/secret.ts';
import { assertBuiltInProvider } from '../../src/resources/secret-provider.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const METADATA = { name: 'pd_key', namespace: 'default' };
const SPEC = { id: 'PAGERDUTY_KEY', provider: 'env' };

const errorOf = (body: object): string | undefined =>
  validationErrorOf(() => {
    assertSecret(parseSecretShape({ metadata: METADATA, spec: SPEC, ...body }));
  });

describe('a secret', () => {
  it('is wrapped: its fields are in the spec', () => {
    const wrapped = { type: 'Secret', api_version: 'secrets/v1', metadata: METADATA, spec: SPEC };
    expect(JSON.parse(JSON.stringify(parseSecretShape(wrapped)))).to.deep.equal(wrapped);
    expect(errorOf(wrapped)).to.equal(undefined);
  });

  const refused: [what: string, body: object, rule: string][] = [
    ['another type', { type: 'Env' }, 'type must be Secret'],
    ['another version', { api_version: 'core/v2' }, 'api_version must be secrets/v1'],
    ['fields outside the spec', { spec: undefined, ...SPEC }, 'spec.provider must not be empty'],
    ['no id', { spec: { provider: 'env' } }, 'spec.id must not be empty'],
    [
      'an id of lower case',
      { spec: { id: 'key', provider: 'env' } },
      'spec.id must be the name of an environment variable: A-Z, 0-9 and _, not starting with a digit',
    ],
    [
      'an id with an equals sign',
      { spec: { id: 'A=B', provider: 'env' } },
      'spec.id must be the name of an environment variable: A-Z, 0-9 and _, not starting with a digit',
    ],
    ['an id that is too long', { spec: { id: 'A'.repeat(1_001), provider: 'x' } }, 'spec.id must have at most 1000'],
    ['an id that is no text', { spec: { id: 1, provider: 'env' } }, 'spec.id must be string'],
    ['no namespace', { metadata: { name: 'a' } }, 'namespace must be set'],
    ['no name', { metadata: { namespace: 'a' } }, 'secret name must not be empty'],
  ];
  for (const [what, body, rule] of refused) {
    it(`is refused with ${what}`, () => {
      expect(errorOf(body)).to.match(new RegExp(`^${rule}`));
    });
  }

  it('may name a provider that does not exist, and any id of it', () => {
    expect(errorOf({ spec: { id: 'path/to#key', provider: 'vault' } })).to.equal(undefined);
  });
});

describe('the provider env', () => {
  const PROVIDER = { type: 'Env', api_version: 'secrets/v1', metadata: { name: 'env' }, spec: {} };
  const errorOfProvider = (body: object): string | undefined =>
    validationErrorOf(() => {
      assertBuiltInProvider({ ...PROVIDER, ...body });
    });

  it('is the only one that is accepted', () => {
    expect(errorOfProvider({})).to.equal(undefined);
    expect(errorOfProvider({ type: 'VaultProvider' })).to.match(/type must be Env, the only type of provider$/);
    expect(errorOfProvider({ api_version: 'core/v2' })).to.match(/api_version must be secrets\/v1$/);
    expect(errorOfProvider({ metadata: { name: 'other' } })).to.match(/metadata.name must be env, the only provider$/);
    expect(errorOfProvider({ metadata: { name: 'env', labels: { a: 'b' } } })).to.match(/has no labels/);
    expect(errorOfProvider({ spec: { a: 1 } })).to.match(/spec must be empty$/);
  });
});
