import { expect } from 'chai';
import { assertApiKey, parseApiKeyShape, shownApiKey } from '../../src/resources/api-key.ts';
import { digestApiKey } from '../../src/store/api-key-digest.ts';
import { testValidation } from './validation-cases.ts';

const KEY = '83abef1e-e7d7-4beb-91fc-79ad90084d5b';

describe('an API key', () => {
  const metadata = { name: KEY };
  testValidation({ parse: parseApiKeyShape, assert: assertApiKey, valid: { metadata, username: 'ann' } }, [
    [{}, undefined],
    [{ metadata: { name: KEY, namespace: 'default' } }, 'api key cannot have a namespace'],
    [{ username: '' }, 'api key must have a username'],
    [{ metadata: { name: 'mine' } }, 'api key name: must be a UUID'],
  ]);

  it('drops a hash that was sent and does not show the stored one', () => {
    const key = parseApiKeyShape({ metadata, username: 'ann', hash: 'sent' });
    expect(key.hash).to.equal('');
    expect(JSON.stringify(shownApiKey({ ...key, hash: 'secret' }))).to.not.include('hash');
  });

  it('is named by a UUID that always follows from the key and does not reveal it', () => {
    const { name, hash } = digestApiKey(KEY);
    expect(name).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(digestApiKey(KEY)).to.deep.equal({ name, hash });
    expect(digestApiKey(KEY.replace('8', '9')).name).to.not.equal(name);
    expect(hash).to.not.include(name.slice(0, 8));
  });
});
