import { connect } from 'node:net';
import { expect } from 'chai';
import { parseObject, parseSingleObject } from '../../../src/http/request/json-body.ts';
import { parseQuery } from '../../../src/http/request/query.ts';
import { parseCheckShape } from '../../../src/resources/check.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';
import { pathWith, routeTable, titleOf } from '../../support/route-table.ts';
import { assertNothingInherited, hostileBodies, itSurvivesBodies, KEYS, refusedOr } from './hostile-bodies.ts';

const BODY_LIMIT_BYTES = 512_000;
/** The time for one body: five times the bound, as the machine is busy and the first run is not compiled yet. */
const CPU_MS = 250;

function cpuMsOf(act: () => unknown): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('A6 member names that reach a prototype in careless code', () => {
  assertNothingInherited();
  // `npm run test:faults` has 100,000.
  itSurvivesBodies(20_000);

  it('A6 of queries do not reach it', () => {
    for (const key of KEYS) {
      const query = refusedOr(() => parseQuery(`/x?${key}=polluted&${key}[polluted]=1&__proto__.polluted=1`));
      expect(query?.get('polluted') ?? null).to.equal(null);
    }
  });

  describe('sent to the API', () => {
    const rows = perSuite(routeTable);
    const backend = perSuite(() => InProcessBackend.start());
    let admin: ApiClient;

    before(async () => {
      admin = await backend.login();
    });

    it('A6 do not reach it through any route with a body, nor through a query', async () => {
      const texts = hostileBodies(8, 66);
      const failures: object[] = [];
      for (const row of rows.filter(({ reads }) => reads !== 'nothing')) {
        const type = row.reads === 'merge-patch' ? 'application/merge-patch+json' : 'application/json';
        for (const text of texts) {
          const path = `${pathWith(row, () => 'ghost')}?__proto__[polluted]=1&constructor.prototype.polluted=1`;
          const headers = { 'content-type': type };
          const { status } = await admin.request({ method: row.method, path, headers, body: text });
          if (status >= 500) failures.push([titleOf(row), text, status]);
        }
      }
      expect(failures).to.deep.equal([]);
      expect(backend.log.errors).to.deep.equal([]);
    });

    it('A6 of labels remain labels after a PATCH and in the store', async () => {
      const labels = '{"__proto__":"x","constructor":"y","prototype":"z"}';
      const body = `{"metadata":{"name":"c","namespace":"default","labels":${labels}},"command":"true","interval":1,"__proto__":{"command":"polluted"}}`;
      expect((await admin.post('/ns/default/checks', body)).status).to.equal(201);
      const patch = '{"metadata":{"labels":{"constructor":"w"}},"constructor":{"prototype":{"polluted":1}}}';
      expect((await admin.patch('/ns/default/checks/c', patch)).status).to.equal(200);
      await backend.restart();
      admin = await backend.login();
      const { json } = await admin.get('/ns/default/checks/c');
      expect(JSON.stringify(at(json, 'metadata', 'labels'))).to.equal(labels.replace('"y"', '"w"'));
      expect(at(json, 'command')).to.equal('true');
      const selected = await admin.get('/ns/default/checks?labelSelector=constructor%20==%20w');
      expect(selected.json).to.have.length(1);
      for (const key of ['toString', 'valueOf', 'hasOwnProperty', '__defineGetter__']) {
        for (const source of [`${key} == x`, `${key} matches native`, `${key} in [x]`, `x in ${key}`]) {
          const { json: none } = await admin.get(`/ns/default/checks?labelSelector=${encodeURIComponent(source)}`);
          expect(none, source).to.deep.equal([]);
        }
        const { json: all } = await admin.get(`/ns/default/checks?labelSelector=${key}%20!=%20x`);
        expect(all).to.have.length(1);
      }
    });
  });
});

describe('A8 expensive JSON', () => {
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const full = (part: string, open: string, close: string): string => {
    const parts = Array.from({ length: Math.floor((BODY_LIMIT_BYTES - 100) / (part.length + 1)) }, () => part);
    return open + parts.join(',') + close;
  };
  /** Whether each is refused; either way the answer is fast. */
  const bodies: [string, string, boolean][] = [
    ['10,000 levels of objects', nested(10_000), true],
    ['10,000 levels of lists', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, true],
    ['levels up to the limit, never closed', '{"a":'.repeat(100_000), true],
    ['lists up to the limit, never closed', '['.repeat(500_000), true],
    ['levels within a text', JSON.stringify({ a: '[{'.repeat(200_000) }), false],
    ['one key, up to the limit', full('"metadata":{"name":"a"}', '{', '}'), false],
    ['one key within one key', full('"a":1', '{"metadata":{"labels":{', '}}}'), true],
    ['lone surrogates', full('"\\ud800"', '{"a":[', ']}'), false],
    ['lone surrogates as keys', full('"\\udfff":1', '{', '}'), false],
    ['backslashes', JSON.stringify({ a: '\\'.repeat(200_000) }), false],
    ['a quotation mark that is never closed', `{"a":"${'\\"'.repeat(250_000)}`, true],
    ['a long number', `{"interval":${'9'.repeat(500_000)}}`, true],
    ['blanks', `{${' '.repeat(500_000)}`, true],
    ['an object before another', `${nested(900)}${'{'.repeat(400_000)}`, false],
    ['timestamps of metric points', full('{"timestamp":1234567890123456789}', '{"metrics":{"points":[', ']}}'), false],
    ['half a timestamp again and again', `{"a":"${'\\"timestamp\\":'.repeat(30_000)}"}`, false],
  ];

  for (const [what, body, isRefused] of bodies) {
    it(`A8 with ${what} costs at most 50 ms of processor time, with a margin for a busy machine`, () => {
      const bytes = Buffer.from(body);
      let accepted = true;
      const act = (): void => {
        accepted = refusedOr(() => parseCheckShape(parseObject(bytes))) !== undefined;
        refusedOr(() => parseSingleObject(bytes));
      };
      expect(Math.min(...Array.from({ length: 3 }, () => cpuMsOf(act)))).to.be.below(CPU_MS);
      expect(accepted).to.equal(!isRefused);
    });

    it(`A8 with ${what} costs time in proportion to its length`, () => {
      const act = (bytes: Buffer) => () => {
        refusedOr(() => parseObject(bytes));
        refusedOr(() => parseSingleObject(bytes));
      };
      // A truncated text closes nothing, so that all of it is scanned.
      const [whole, quarter] = [Buffer.from(body), Buffer.from(body.slice(0, body.length / 4))];
      const times = (bytes: Buffer): number => Math.min(...Array.from({ length: 3 }, () => cpuMsOf(act(bytes))));
      times(quarter);
      expect(times(whole)).to.be.below(Math.max(12 * times(quarter), 20));
    });
  }

  describe('sent to the API', () => {
    const backend = perSuite(() => InProcessBackend.start());
    const admin = perSuite(() => backend.login());

    const writes: [method: string, path: string, type: string][] = [
      ['POST', '/ns/default/checks', 'application/json'],
      ['PUT', '/ns/default/events/e/c', 'application/json'],
      ['PATCH', '/ns/default/checks/c', 'application/merge-patch+json'],
      ['POST', '/api/core/v2/users', 'application/json'],
    ];
    for (const [method, path, type] of writes) {
      it(`A8 is answered with 400 and causes no internal error: ${method} ${path}`, async () => {
        for (const [what, body, isRefused] of bodies.filter(([, text]) => text.length <= BODY_LIMIT_BYTES)) {
          const { status } = await admin.request({ method, path, headers: { 'content-type': type }, body });
          expect(status, what).to.be.oneOf(isRefused ? [400] : [400, 404]);
        }
        expect(backend.log.errors).to.deep.equal([]);
      });
    }

    it('A8 with a repeated key yields its last value, and a lone surrogate becomes U+FFFD', async () => {
      const twice =
        '{"metadata":{"name":"d","labels":{"a":"1"}},"metadata":{"name":"d","namespace":"default","labels":{"b\\ud800":"\\udc00"}},"command":"true","interval":1}';
      expect((await admin.post('/ns/default/checks', twice)).status).to.equal(201);
      const { json } = await admin.get('/ns/default/checks/d');
      expect(at(json, 'metadata', 'labels')).to.deep.equal({ 'b\ufffd': '\ufffd' });
    });

    for (const framing of ['content-length: 100000000', 'transfer-encoding: chunked']) {
      it(`A8 of 100 MB is answered with 413 (${framing}) after at most a tenth has been read`, async () => {
        const before = process.cpuUsage();
        const heapBefore = process.memoryUsage().arrayBuffers;
        const { answer, sent } = await pour(backend.apiPort, framing);
        const { user, system } = process.cpuUsage(before);
        expect(answer).to.match(/^HTTP\/1\.1 413 /);
        expect(sent).to.be.below(20_000_000);
        expect((user + system) / 1_000).to.be.below(2 * CPU_MS);
        expect(process.memoryUsage().arrayBuffers - heapBefore).to.be.below(32_000_000);
        expect((await admin.get('/ns/default/checks')).status).to.equal(200);
      });
    }
  });

  /** Sends up to 100 MB with credentials that make the backend read the body. */
  async function pour(port: number, framing: string): Promise<{ answer: string; sent: number }> {
    const chunk = Buffer.alloc(1_000_000, ' ');
    const isChunked = framing.startsWith('transfer');
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
    const closed = new Promise<void>((resolve) => {
      // The connection is closed while the body is written.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve();
      });
    });
    const head = ['POST /api/core/v2/tessen/metrics HTTP/1.1', 'Host: x', framing];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    for (let n = 0; n < 100 && !socket.destroyed; n += 1) {
      if (isChunked) socket.write(`${chunk.length.toString(16)}\r\n`);
      const isFlushed = socket.write(chunk);
      if (isChunked) socket.write('\r\n');
      if (!isFlushed) await Promise.race([new Promise<void>((resolve) => void socket.once('drain', resolve)), closed]);
    }
    socket.end();
    await closed;
    return { answer, sent: socket.bytesWritten };
  }
});
