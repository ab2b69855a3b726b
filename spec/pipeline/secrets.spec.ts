import { expect } from 'chai';
import { resolveSecrets, type SecretValues } from '../../src/pipeline/secrets.ts';
import { parseSecretShape } from '../../src/resources/secret.ts';
import type { TableReader } from '../../src/store/records/table-reader.ts';

const STORED: Record<string, object> = {
  'secrets/dev/key': { spec: { id: 'KEY', provider: 'env' } },
  'secrets/dev/empty': { spec: { id: 'EMPTY', provider: 'env' } },
  'secrets/dev/unset': { spec: { id: 'UNSET', provider: 'env' } },
  'secrets/dev/path': { spec: { id: 'PATH', provider: 'env' } },
  'secrets/dev/vaulted': { spec: { id: 'KEY', provider: 'vault' } },
};

const reader: TableReader = {
  get: (_, key) => {
    const stored = STORED[key];
    return (stored === undefined ? undefined : parseSecretShape(stored)) as never;
  },
};

const values: SecretValues = {
  of: (id) =>
    new Map([
      ['KEY', 'v=1'],
      ['EMPTY', ''],
      ['PATH', '/bin'],
    ]).get(id),
  allows: (id) => id !== 'PATH',
};

const resolve = (...secrets: { name: string; secret: string }[]) => resolveSecrets(reader, values, 'dev', secrets);

describe('the secrets of a command', () => {
  it('are entries of its environment, in order, without those that are empty', () => {
    expect(
      resolve({ name: 'B', secret: 'key' }, { name: 'E', secret: 'empty' }, { name: 'A', secret: 'key' }),
    ).to.deep.equal({ environment: ['B=v=1', 'A=v=1'] });
  });

  it('are empty when none are named', () => {
    expect(resolveSecrets(reader, values, 'dev', null)).to.deep.equal({ environment: [] });
  });

  const missing: [secret: string, error: string][] = [
    ['other', 'invalid secret info: other'],
    ['../dev/key', 'invalid secret info: ../dev/key'],
    ['', 'invalid secret info: '],
    ['unset', 'secret not found: UNSET'],
    ['path', 'secret not found: PATH (not allowed by --secrets-env-allow)'],
    ['vaulted', 'secret provider not found: vault'],
  ];
  for (const [secret, error] of missing) {
    it(`are not found when one of them fails: ${error}`, () => {
      expect(resolve({ name: 'B', secret: 'key' }, { name: 'X', secret })).to.deep.equal({
        missing: `secret "${secret}": ${error}`,
      });
    });
  }

  it('are not found in another namespace', () => {
    expect(resolveSecrets(reader, values, 'prod', [{ name: 'B', secret: 'key' }])).to.have.property('missing');
  });
});
