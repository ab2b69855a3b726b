import { expect } from 'chai';
import { ApiUnderTest, REQUEST_LIMIT_BYTES } from '../api-under-test.ts';
import { perSuite, perTest } from '../../support/fixture.ts';

const TESSEN = '/api/core/v2/tessen';

describe('the telemetry setting', () => {
  const api = perTest(() => ApiUnderTest.start());

  it('is stored with its author in the ledger, and has a tag', async () => {
    const off = await api.get(TESSEN);
    expect([off.status, off.body]).to.deep.equal([200, { opt_out: false }]);
    const put = await api.send({ method: 'PUT', path: TESSEN, body: { opt_out: true } });
    expect([put.status, put.body]).to.deep.equal([200, { opt_out: true }]);
    const { body: ledger } = await api.get('/api/mon/v1/ledger?actor=tessen');
    expect(ledger).to.have.nested.property('entries[0].cause.user', 'admin');
    const on = await api.get(TESSEN);
    expect([on.status, on.body, on.headers['etag']]).to.deep.equal([200, { opt_out: true }, put.headers['etag']]);
    expect(on.headers['etag']).to.not.equal(off.headers['etag']);
  });
});

describe('a body of telemetry', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const post = (text: string) =>
    api.send({ method: 'POST', path: `${TESSEN}/metrics`, headers: { authorization: '' }, text });

  const echoed: [string, string][] = [
    ['[]', '[]'],
    ['null', '[]'],
    [' [{}] and more', '[{"value":0,"timestamp":0,"tags":null}]'],
    [
      '[{"name":"x","value":1.5,"timestamp":1700000000123456789,"tags":[{"name":"a"}],"more":1}]',
      '[{"name":"x","value":1.5,"timestamp":1700000000123456789,"tags":[{"name":"a","value":""}]}]',
    ],
  ];
  for (const [sent, answered] of echoed) {
    it(`is returned exactly, without credentials: ${sent}`, async () => {
      const { status, text } = await post(sent);
      expect([status, text]).to.deep.equal([200, answered]);
    });
  }

  for (const sent of ['', '{}', '"x"', '[1]', '[null]', '[{"value":"x"}]', '[{', '[{"timestamp":1e40}]']) {
    it(`is 400 when it is "${sent}"`, async () => {
      expect((await post(sent)).status).to.equal(400);
    });
  }

  it('is 413 when it is too long', async () => {
    expect((await post(`[${' '.repeat(REQUEST_LIMIT_BYTES)}]`)).status).to.equal(413);
  });
});
