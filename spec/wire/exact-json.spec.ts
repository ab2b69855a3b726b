import { expect } from 'chai';
import fc from 'fast-check';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import { type Codec, jsonCodec, protobufCodec } from '../../src/wire/codec.ts';
import { parseEventJson, stringifyExactly } from '../../src/wire/exact-json.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const NANOSECONDS = '1795263001927089952';

const entity = { entity_class: 'agent', metadata: { name: 'web-01', namespace: 'default' } };

const eventAt = (...timestamps: (number | bigint)[]): Event =>
  parseEvent({
    entity,
    metrics: {
      handlers: ['influx'],
      points: timestamps.map((timestamp, index) => ({ name: `p${index}`, value: index / 3, timestamp, tags: null })),
    },
  });

const jsonWith = (timestamp: string): Buffer =>
  Buffer.from(`{"entity":${JSON.stringify(entity)},"metrics":{"points":[{"name":"p","timestamp":${timestamp}}]}}`);

const timestampsOf = (event: Event): unknown[] | undefined => event.metrics?.points?.map(({ timestamp }) => timestamp);

const codecs: [string, Codec][] = [
  ['JSON', jsonCodec],
  ['protobuf', protobufCodec],
];

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, -1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)),
);

describe('the timestamp of a metric point', () => {
  for (const [what, codec] of codecs) {
    it(`is any number of 64 bits in ${what}, to the digit`, () => {
      fc.assert(
        fc.property(fc.array(int64, { minLength: 1, maxLength: 4 }), (timestamps) => {
          const event = eventAt(...timestamps);
          expect(timestampsOf(event)?.map(String)).to.deep.equal(timestamps.map(String));
          expect(codec.decodeEvent(Buffer.from(codec.encodeEvent(event)))).to.deep.equal(event);
        }),
        { numRuns: 500 },
      );
    });
  }

  it('is written in JSON as the number it is', () => {
    expect(jsonCodec.encodeEvent(eventAt(BigInt(NANOSECONDS)))).to.contain(`"timestamp":${NANOSECONDS},`);
  });

  it('is a number where that is exact', () => {
    fc.assert(
      fc.property(int64, (timestamp) => {
        const [kept] = timestampsOf(eventAt(timestamp)) ?? [];
        expect(typeof kept).to.equal(Number.isSafeInteger(Number(timestamp)) ? 'number' : 'bigint');
      }),
    );
  });

  const accepted: [string, unknown][] = [
    ['null', 0],
    ['-0', 0],
    ['1767268800', 1_767_268_800],
    ['1767268800.0', 1_767_268_800],
    ['1e18', 10n ** 18n],
    [NANOSECONDS, BigInt(NANOSECONDS)],
    [`\n ${NANOSECONDS} `, BigInt(NANOSECONDS)],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    [`1,"timestamp" :\t${NANOSECONDS}`, BigInt(NANOSECONDS)],
    [`${NANOSECONDS},"timestamp":1`, 1],
  ];
  for (const [written, read] of accepted) {
    it(`written ${JSON.stringify(written)} is ${String(read)}`, () => {
      expect(timestampsOf(jsonCodec.decodeEvent(jsonWith(written)))).to.deep.equal([read]);
    });
  }

  for (const written of [
    '1.5',
    '9223372036854775808',
    '-9223372036854775809',
    '1e30',
    `"${NANOSECONDS}"`,
    'true',
    '9'.repeat(1_000),
  ]) {
    it(`is not ${written.slice(0, 30)}`, () => {
      expect(validationErrorOf(() => jsonCodec.decodeEvent(jsonWith(written)))).to.equal(
        'metrics.points.0.timestamp must be a whole number of 64 bits',
      );
    });
  }

  it('is recognised in any letter case, beside others of the same name', () => {
    const text = `{"Entity":${JSON.stringify(entity)},"METRICS":{"Points":[{"TimeStamp":${NANOSECONDS}},{}]},"other":{"timestamp":${NANOSECONDS}}}`;
    const event = jsonCodec.decodeEvent(Buffer.from(text));
    expect(timestampsOf(event)).to.deep.equal([BigInt(NANOSECONDS), 0]);
  });

  it('ignores strings that look like one', () => {
    const lookalike = `"timestamp":${NANOSECONDS},\\"timestamp":${NANOSECONDS}}`;
    const sent = { ...eventAt(BigInt(NANOSECONDS)), metadata: { labels: { [lookalike]: lookalike } } };
    const event = parseEvent(sent);
    expect(jsonCodec.decodeEvent(Buffer.from(jsonCodec.encodeEvent(event)))).to.deep.equal(event);
  });
});

describe('exact JSON', () => {
  const values = fc.anything({
    withNullPrototype: false,
    values: [fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined)],
  });

  it('equals that of JSON.stringify when no value exceeds a number', () => {
    fc.assert(
      fc.property(values, (value) => {
        const plain = JSON.stringify({ value, list: [value] });
        expect(stringifyExactly({ value, list: [value] })).to.equal(plain);
        expect(stringifyExactly({ large: 2n ** 60n, value, list: [value] })).to.equal(
          plain.replace('{', `{"large":1152921504606846976${plain.startsWith('{}') ? '' : ','}`),
        );
      }),
    );
  });

  it('is parsed or rejected like by JSON.parse when no value exceeds a number', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parseEventJson(text)).to.throw(SyntaxError);
          return;
        }
        expect(parseEventJson(text)).to.deep.equal(expected);
      }),
    );
  });

  for (const points of [
    'null',
    '5',
    '"x"',
    '{}',
    '[null,5,"x",[],{"timestamp":{}}]',
    `[[{"timestamp":${NANOSECONDS}}]]`,
  ]) {
    it(`has points of any shape: ${points}`, () => {
      const text = `{"metrics":{"points":${points}}}`;
      expect(parseEventJson(text)).to.deep.equal(JSON.parse(text));
    });
  }

  it('rejects circular references', () => {
    const circle: { self?: object } = {};
    circle.self = circle;
    expect(() => stringifyExactly(circle)).to.throw(RangeError);
  });
});
