import { hash } from 'node:crypto';
import { expect } from 'chai';
import { EntityTags, taggedJson } from '../../../src/http/answer/entity-tag.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const STORED = { name: 'sw1', password: 'hunter2' };
const SECRET = Buffer.alloc(32, 1);

describe('the entity tag of a stored object', () => {
  it('depends on the stored object and on the secret', () => {
    const tag = new EntityTags(SECRET).of(STORED);
    expect(tag).to.match(/^"[0-9a-f]{16}"$/);
    expect(new EntityTags(Buffer.from(SECRET)).of({ ...STORED })).to.equal(tag);
    expect(new EntityTags(Buffer.alloc(32, 2)).of(STORED)).to.not.equal(tag);
    expect(new EntityTags(SECRET).of({ ...STORED, password: 'hunter3' })).to.not.equal(tag);
  });

  it('covers the whole stored object, also when the answer shows only a part of it', () => {
    const { tagSource = '', body } = taggedJson(STORED, { name: 'sw1' });
    expect(body).to.equal('{"name":"sw1"}');
    expect(new EntityTags(SECRET).ofJson(tagSource)).to.equal(new EntityTags(SECRET).of(STORED));
  });

  it('stays the same after a restart, and is not a plain hash of the answer', async () => {
    const backend = await InProcessBackend.start();
    try {
      const path = '/ns/default/hooks/h';
      const metadata = { name: 'h', namespace: 'default' };
      await (await backend.login()).post('/ns/default/hooks', { metadata, command: 'true', timeout: 1 });
      const first = await (await backend.login()).get(path);
      await backend.restart();
      const api = await backend.login();
      expect((await api.get(path)).headers.etag)
        .to.equal(first.headers.etag)
        .and.to.match(/^"[0-9a-f]{16}"$/);
      expect(first.headers.etag).to.not.include(hash('sha256', first.text, 'hex').slice(0, 16));
      const known = { method: 'GET', path, headers: { 'if-none-match': String(first.headers.etag) } };
      expect((await api.request(known)).status).to.equal(304);
    } finally {
      await backend.stop();
    }
  });
});
