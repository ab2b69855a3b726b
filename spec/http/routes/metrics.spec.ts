import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ApiUnderTest } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const ANONYMOUS = { authorization: '' };
const TEXT = 'up 1\n';
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

describe('GET /metrics', () => {
  const api = perSuite(() => ApiUnderTest.start());

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH']) {
    it(`answers ${method} without credentials with the metrics`, async () => {
      const { status, text, headers } = await api.send({ method, path: '/metrics?x=%41', headers: ANONYMOUS });
      expect([status, text, headers['content-type']]).to.deep.equal([200, TEXT, TYPE]);
    });
  }

  it('answers HEAD with the headers only', async () => {
    const { status, text, headers } = await api.send({ method: 'HEAD', path: '/metrics', headers: ANONYMOUS });
    expect([status, text, headers['content-type']]).to.deep.equal([200, '', TYPE]);
    expect(headers['content-length']).to.equal(String(TEXT.length));
  });

  it('ignores wrong credentials', async () => {
    const { status } = await api.send({ path: '/metrics', headers: { authorization: 'Bearer wrong' } });
    expect(status).to.equal(200);
  });

  it('exists under no other path', async () => {
    for (const path of ['/metrics/', '/metrics/x', '/metric', '/Metrics']) {
      expect((await api.send({ path, headers: ANONYMOUS })).status, path).to.equal(404);
    }
  });

  /** Returns the body as it was transferred, without decompressing it. */
  const scraped = (encodings: Record<string, string>): Promise<{ encoding: string | undefined; bytes: Buffer }> =>
    new Promise((resolve, reject) => {
      const target = { host: '127.0.0.1', port: api.port, path: '/metrics', headers: encodings };
      const outgoing = request(target, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          expect(response.headers.vary).to.equal('Accept-Encoding');
          resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks) });
        });
      });
      outgoing.on('error', reject).end();
    });

  const cases: [string, Record<string, string>, 'gzip' | undefined][] = [
    ['no Accept-Encoding', {}, undefined],
    ['gzip', { 'accept-encoding': 'gzip' }, 'gzip'],
    ['what browsers send', { 'accept-encoding': 'gzip, deflate, br' }, 'gzip'],
    ['gzip with the quality 0', { 'accept-encoding': 'gzip;q=0' }, undefined],
    ['something else', { 'accept-encoding': 'br' }, undefined],
  ];
  for (const [what, headers, expected] of cases) {
    it(`is ${expected === 'gzip' ? '' : 'not '}compressed for ${what}`, async () => {
      const { encoding, bytes } = await scraped(headers);
      expect(encoding).to.equal(expected);
      expect((expected === 'gzip' ? gunzipSync(bytes) : bytes).toString()).to.equal(TEXT);
    });
  }

  it('answers 500 without details when the scrape fails, and logs the error', async () => {
    api.scrape = () => Promise.reject(new Error('no metrics'));
    const { status, text } = await api.send({ path: '/metrics', headers: ANONYMOUS });
    expect([status, text]).to.deep.equal([500, '{"message":"internal error occurred","code":0}']);
    expect(api.log.errors.at(-1)?.fields).to.include({ path: '/metrics' });
  });
});
