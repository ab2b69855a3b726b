import { expect } from 'chai';
import { CookieLogins } from '../../../src/http/earlier/cookie-logins.ts';

const OWNER = { username: 'ann', passwordHash: 'hash' };
const TWELVE_HOURS_MS = 12 * 3_600_000;

const headersOf = (cookies: readonly string[]) => {
  const pairs = cookies.map((cookie) => cookie.split(';', 1)[0] ?? '');
  return { cookie: pairs.join('; '), 'x-xsrf-token': pairs[1]?.split('=')[1] ?? '' };
};

describe('logins by cookie', () => {
  let nowMs: number;
  let logins: CookieLogins;

  beforeEach(() => {
    nowMs = 0;
    logins = new CookieLogins({ monotonicMs: () => nowMs });
  });

  it('end after twelve hours', () => {
    const headers = headersOf(logins.begin(OWNER, false));
    nowMs = TWELVE_HOURS_MS - 1;
    expect(logins.ownerOf(headers)).to.include(OWNER);
    nowMs = TWELVE_HOURS_MS;
    expect(logins.ownerOf(headers)).to.equal(undefined);
  });

  it('are found among other cookies, and not under a name that ends like theirs', () => {
    const headers = headersOf(logins.begin(OWNER, false));
    expect(logins.ownerOf({ ...headers, cookie: `a=b;${headers.cookie}; c=d` })).to.include(OWNER);
    expect(logins.ownerOf({ ...headers, cookie: `x${headers.cookie}` })).to.equal(undefined);
    expect(logins.ownerOf({ cookie: 'AuthenticationToken=' })).to.equal(undefined);
    expect(logins.ownerOf({})).to.equal(undefined);
  });

  it('have cookies that are sent over TLS only when they began there', () => {
    for (const cookie of logins.begin(OWNER, true)) expect(cookie).to.match(/; Secure$/);
    for (const cookie of logins.begin(OWNER, false)) expect(cookie).to.not.contain('Secure');
  });

  it('lose the one that was used least recently when there are more than 10,000', () => {
    const [used, unused] = [headersOf(logins.begin(OWNER, false)), headersOf(logins.begin(OWNER, false))];
    for (let number = 0; number < 9_999; number += 1) {
      logins.ownerOf(used);
      logins.begin(OWNER, false);
    }
    expect(logins.ownerOf(used)).to.include(OWNER);
    expect(logins.ownerOf(unused)).to.equal(undefined);
  });
});
