import { expect } from 'chai';
import fc from 'fast-check';
import { parseEvent } from '../../src/resources/event.ts';
import { jsonCodec, protobufCodec } from '../../src/wire/codec.ts';
import { parseCheckRequest } from '../../src/wire/check-request.ts';
import { encodeEvent } from '../../src/wire/protobuf-codec.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const eventWith = (check: object): Record<string, unknown> => ({
  entity: { entity_class: 'proxy', metadata: { name: 'sw-1', namespace: 'default' } },
  check: { interval: 30, metadata: { name: 'disk' }, ...check },
});

/** Encodes without validation, as another implementation might. */
function encodedBothWays(proxyRequests: object): [string, () => unknown][] {
  const event = parseEvent(eventWith({}));
  const { config } = parseCheckRequest({ config: { proxy_requests: proxyRequests } });
  const broken = { ...event, check: Object.assign({}, event.check, { proxy_requests: config.proxy_requests }) };
  return [
    ['JSON', () => jsonCodec.decodeEvent(Buffer.from(JSON.stringify(eventWith({ proxy_requests: proxyRequests }))))],
    ['protobuf', () => protobufCodec.decodeEvent(encodeEvent(broken))],
  ];
}

/** What an entity is chosen by is a program. */
const expression = fc.string({ unit: 'grapheme' }).map((text) => `entity.user == ${JSON.stringify(text)}`);

describe('the proxy requests of an event', () => {
  it('are unchanged by encoding and decoding', () => {
    const members = fc
      .record(
        {
          entity_attributes: fc.option(fc.array(expression, { maxLength: 3 })),
          splay: fc.boolean(),
          splay_coverage: fc.integer({ min: 1, max: 100 }),
        },
        { requiredKeys: ['splay_coverage'] },
      )
      .map((proxy_requests) => parseEvent(eventWith({ proxy_requests })));
    const none = fc.constantFrom({}, { splay: false }, { entity_attributes: [] });
    const events = fc.oneof(
      members,
      none.map((proxy_requests) => parseEvent(eventWith({ proxy_requests }))),
    );
    fc.assert(
      fc.property(events, (event) => {
        for (const codec of [jsonCodec, protobufCodec]) {
          expect(codec.decodeEvent(Buffer.from(codec.encodeEvent(event)))).to.deep.equal(event);
        }
      }),
    );
  });

  const refused: [object, string][] = [
    [{ splay_coverage: 101 }, 'check is invalid: proxy request splay coverage must be between 0 and 100'],
    [
      { entity_attributes: ['', 'a ='] },
      'check is invalid: syntax error in expression 1: Line 1:4 Unexpected end of input',
    ],
    [{ splay: true }, 'check is invalid: proxy request splay coverage must be greater than 0 if splay is enabled'],
    [{ splay: true, splay_coverage: 101 }, 'check is invalid: proxy request splay coverage must be between 0 and 100'],
  ];
  for (const [requests, message] of refused) {
    for (const [encoding, decode] of encodedBothWays(requests)) {
      it(`are rejected in ${encoding} as ${JSON.stringify(requests)}: ${message}`, () => {
        expect(validationErrorOf(decode)).to.equal(message);
      });
    }
  }

  const ofAnotherType: [unknown, string][] = [
    ['x', 'check.proxy_requests must be object or null'],
    [{ entity_attributes: 'x' }, 'check.proxy_requests.entity_attributes must be array or null'],
    [{ entity_attributes: [1] }, 'check.proxy_requests.entity_attributes.0 must be string or null'],
    [{ splay: 1 }, 'check.proxy_requests.splay must be boolean or null'],
    [{ splay_coverage: -1 }, 'check.proxy_requests.splay_coverage must be >= 0'],
  ];
  for (const [requests, message] of ofAnotherType) {
    it(`are rejected as ${JSON.stringify(requests)}: ${message}`, () => {
      expect(validationErrorOf(() => parseEvent(eventWith({ proxy_requests: requests })))).to.equal(message);
    });
  }
});
