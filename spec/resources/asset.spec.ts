import { assertAsset, parseAssetShape } from '../../src/resources/asset.ts';
import { testDefaults, testValidation } from './validation-cases.ts';

describe('an asset', () => {
  const sha512 = 'a'.repeat(128);
  const valid = { metadata: { name: 'a', namespace: 'default' }, url: 'u', sha512 };
  const segments = 'name must not have a segment that is empty, "." or ".."';
  testValidation({ parse: parseAssetShape, assert: assertAsset, valid }, [
    [{}, undefined],
    [{ metadata: { name: 'acme/check-disk', namespace: 'default' } }, undefined],
    [{ url: '', sha512: 'short', builds: [{ url: 'u', sha512 }] }, undefined],
    [{ metadata: { name: '', namespace: 'default' } }, 'name cannot be empty'],
    [
      { metadata: { name: 'a b', namespace: 'default' } },
      'name may only contain letters, forward slashes, underscores, dashes and numbers',
    ],
    ...['/a', 'a/', 'a//b', '.', 'a/../b', './a'].map((name): [object, string] => [
      { metadata: { name, namespace: 'default' } },
      segments,
    ]),
    [{ metadata: { name: 'a' } }, 'namespace cannot be empty'],
    [{ sha512: '', url: '' }, 'SHA-512 checksum cannot be empty'],
    [{ sha512: 'a'.repeat(127) }, 'SHA-512 checksum must be at least 128 characters'],
    [{ url: '' }, 'URL cannot be empty'],
    [{ filters: ['a b'] }, 'syntax error in expression 0: Line 1:3 Unexpected token'],
    [{ builds: [{ url: 'u', sha512 }, { url: 'u' }] }, 'SHA-512 checksum cannot be empty'],
  ]);
  testDefaults(parseAssetShape, { metadata: {}, filters: null, builds: null, headers: null });
});
