import { expect } from 'chai';
import fc from 'fast-check';
import { parseCheckRequest } from '../../src/wire/check-request.ts';
import { jsonCodec, protobufCodec } from '../../src/wire/codec.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 10 });
const texts = fc.array(text, { maxLength: 2 });
const textMap = fc.dictionary(text, text, { maxKeys: 2 });
const some = <T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(members, { requiredKeys: [] });

const metadata = some({ name: text, namespace: text, labels: textMap, annotations: textMap, created_by: text });
const build = { url: text, sha512: text, filters: texts, headers: textMap };
const assets = fc.array(some({ ...build, builds: fc.array(some(build), { maxLength: 2 }), metadata }), {
  maxLength: 2,
});
const hooks = fc.array(
  some({ metadata, command: text, timeout: fc.nat(), stdin: fc.boolean(), runtime_assets: texts }),
  { maxLength: 2 },
);
const config = some({
  metadata,
  command: text,
  interval: fc.nat(),
  subscriptions: texts,
  runtime_assets: texts,
  check_hooks: fc.array(
    fc.tuple(text, texts).map(([type, names]) => ({ [type]: names })),
    { maxLength: 2 },
  ),
  proxy_entity_name: text,
  proxy_requests: some({ entity_attributes: texts, splay: fc.boolean(), splay_coverage: fc.nat() }),
  scheduler: text,
  secrets: fc.array(some({ name: text, secret: text }), { maxLength: 2 }),
});

/** Members come and go, and some are `null`. */
const requests = fc
  .record(
    {
      config,
      assets: fc.option(assets),
      hooks: fc.option(hooks),
      issued: fc.option(fc.maxSafeInteger()),
      hook_assets: fc.option(fc.dictionary(text, fc.option(some({ assets })), { maxKeys: 3 })),
      secrets: fc.option(texts),
    },
    { requiredKeys: ['config'] },
  )
  .map(parseCheckRequest);

describe('a check request', () => {
  it('is identical in both encodings, member by member', () => {
    fc.assert(
      fc.property(requests, (request) => {
        for (const codec of [jsonCodec, protobufCodec]) {
          const decoded = codec.decodeCheckRequest(Buffer.from(codec.encodeCheckRequest(request)));
          expect(decoded).to.deep.equal(request);
          expect(Object.keys(decoded)).to.deep.equal(Object.keys(request));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('has every member when only its check is sent', () => {
    const { config: check, ...rest } = jsonCodec.decodeCheckRequest(Buffer.from('{"config":{}}'));
    expect(check.scheduler).to.equal('');
    expect(rest).to.deep.equal({
      assets: null,
      hooks: null,
      issued: 0,
      hook_assets: {},
      secrets: undefined,
      tokens_filled: undefined,
    });
  });

  it('can be encoded without optional members', () => {
    const { secrets: _, ...request } = parseCheckRequest({ config: { metadata: { name: 'disk' } }, issued: 5 });
    const { scheduler: __, ...check } = request.config;
    for (const codec of [jsonCodec, protobufCodec]) {
      const encoded = codec.encodeCheckRequest({ ...request, config: check });
      expect(encoded.includes('scheduler')).to.equal(false);
      expect(codec.decodeCheckRequest(Buffer.from(encoded))).to.deep.equal({ ...request, secrets: undefined });
    }
  });

  it('says in both encodings that its tokens are filled', () => {
    const request = parseCheckRequest({ config: { metadata: { name: 'disk' } }, tokens_filled: true });
    for (const codec of [jsonCodec, protobufCodec]) {
      const encoded = Buffer.from(codec.encodeCheckRequest(request));
      expect(codec.decodeCheckRequest(encoded)).to.have.property('tokens_filled', true);
    }
  });
});
