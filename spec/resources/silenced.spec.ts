import { expect } from 'chai';
import { InvalidResource } from '../../src/resources/errors.ts';
import {
  assertSilenced,
  NO_SILENCE_LIMITS,
  parseSilencedShape,
  type SilenceLimits,
  silencedName,
  withTimes,
} from '../../src/resources/silenced.ts';

const NOW_S = 1_700_000_000;

const errorOf = (body: object): string | undefined => {
  try {
    assertSilenced(parseSilencedShape(body));
    return undefined;
  } catch (error) {
    if (error instanceof InvalidResource) return error.message;
    throw error;
  }
};

describe('a silence', () => {
  const names: [object, string][] = [
    [{ subscription: 'linux' }, 'linux:*'],
    [{ check: 'disk' }, '*:disk'],
    [{ subscription: 'entity:web-1', check: 'disk' }, 'entity:web-1:disk'],
    [{ subscription: '*', check: '' }, '*:*'],
    [{ subscription: 'linux', check: 'a:b', metadata: { name: 'other' } }, 'linux:a:b'],
  ];
  for (const [body, name] of names) {
    it(`is named ${name} after what it silences`, () => {
      expect(errorOf(body)).to.equal(undefined);
      expect(silencedName(parseSilencedShape(body))).to.equal(name);
    });
  }

  const errors: [object, string][] = [
    [{}, 'must provide check or subscription'],
    [{ subscription: '', check: null }, 'must provide check or subscription'],
    [{ subscription: '*', check: '*' }, 'must provide check or subscription'],
    [{ subscription: 'a b' }, 'Subscription cannot contain spaces or special characters'],
    [{ subscription: 'a:b:c' }, 'Subscription cannot contain spaces or special characters'],
    [{ subscription: ':x' }, 'Subscription cannot contain spaces or special characters'],
    [{ subscription: 'l*' }, 'Subscription cannot contain spaces or special characters'],
    [{ subscription: 'x'.repeat(601) }, 'Subscription must be at most 600 characters'],
    [{ subscription: 'linux', check: 'a/b' }, 'Check cannot contain spaces or special characters'],
    [{ check: '..' }, 'Check must not be "." or ".."'],
    [{ check: 'disk', begin: 1e15 }, 'begin must be at most 8640000000000'],
    [{ check: 'disk', expire: 1e15 }, 'expire must be at most 8640000000000'],
    [{ check: 'disk', expire_at: -1 }, 'expire_at must be >= 0'],
    [{ check: 5 }, 'check must be string or null'],
    [{ check: 'disk', expire: 1.5 }, 'expire must be integer or null'],
    [{ check: 'disk', begin: 'now' }, 'begin must be integer or null'],
  ];
  for (const [body, message] of errors) {
    it(`is rejected with ${JSON.stringify(body).slice(0, 60)}: ${message}`, () => {
      expect(errorOf(body)).to.equal(message);
    });
  }

  const limited: [string, object, SilenceLimits, object][] = [
    [
      'gets the default duration when it has no end',
      {},
      { defaultS: 60, longestS: 0 },
      { expire_at: NOW_S + 60, expire: 60 },
    ],
    [
      'gets the default duration, counted from its start',
      { begin: 7, expire: -1 },
      { defaultS: 60, longestS: 90 },
      { expire_at: 67 },
    ],
    ['gets the longest duration when there is no default one', {}, { defaultS: 0, longestS: 90 }, { expire: 90 }],
    ['keeps its own end', { expire: 90 }, { defaultS: 60, longestS: 90 }, { expire_at: NOW_S + 90, expire: 90 }],
    ['keeps the end that was sent', { expire_at: NOW_S + 9 }, { defaultS: 60, longestS: 90 }, { expire_at: NOW_S + 9 }],
  ];
  for (const [what, body, limits, expected] of limited) {
    it(`${what}, when silences are limited`, () => {
      expect(withTimes(parseSilencedShape({ check: 'disk', ...body }), NOW_S, limits)).to.include(expected);
    });
  }

  it('may begin before 1970 when silences are limited, because its duration counts from now', () => {
    const silenced = parseSilencedShape({ check: 'disk', begin: -1, expire: 90 });
    expect(withTimes(silenced, NOW_S, { defaultS: 0, longestS: 90 })).to.include({ expire_at: NOW_S + 90 });
  });

  for (const body of [{ expire: 91 }, { expire_at: NOW_S + 91 }, { begin: NOW_S - 50, expire_at: NOW_S + 41 }]) {
    it(`is rejected when it exceeds the longest duration: ${JSON.stringify(body)}`, () => {
      const silenced = parseSilencedShape({ check: 'disk', ...body });
      const message = 'a silence must end within 90 seconds of its start';
      expect(() => withTimes(silenced, NOW_S, { defaultS: 0, longestS: 90 })).to.throw(InvalidResource, message);
    });
  }

  const times: [string, object, object][] = [
    ['begins now and has no end', {}, { begin: NOW_S, expire_at: 0, expire: -1 }],
    ['has no end when expire is below 0', { expire: -5 }, { begin: NOW_S, expire_at: 0, expire: -1 }],
    ['ends expire seconds from now', { expire: 60 }, { begin: NOW_S, expire_at: NOW_S + 60, expire: 60 }],
    ['ends expire seconds from its start', { begin: 100, expire: 10 }, { begin: 100, expire_at: 110, expire: 10 }],
    [
      'ends expire seconds from now when it begins before 1970',
      { begin: -1, expire: 100 },
      { begin: -1, expire_at: NOW_S + 100, expire: 100 },
    ],
    ['can begin before 1970', { begin: -5 }, { begin: -5, expire_at: 0, expire: -1 }],
    ['keeps an end that was sent', { expire_at: 7, expire: 60 }, { begin: NOW_S, expire_at: 7, expire: 60 }],
    ['does not show an expire that was not sent', { expire_at: 7 }, { begin: NOW_S, expire_at: 7, expire: 0 }],
  ];
  for (const [what, body, expected] of times) {
    it(what, () => {
      expect(withTimes(parseSilencedShape({ check: 'disk', ...body }), NOW_S, NO_SILENCE_LIMITS)).to.include(expected);
    });
  }
});
