import { expect } from 'chai';
import { type EntryPoint, type LoginAttempt, LoginThrottle } from '../../src/auth/login-throttle.ts';
import { TooManyLogins } from '../../src/resources/errors.ts';
import { ManualClock } from '../support/manual-clock.ts';

const HOUR_MS = 3_600_000;

const attemptOf = (username: string, remoteAddress: string): LoginAttempt => ({
  username,
  remoteAddress,
  entryPoint: 'api',
});

describe('the login throttle', () => {
  let clock: ManualClock;
  let throttle: LoginThrottle;
  beforeEach(() => {
    clock = new ManualClock();
    throttle = new LoginThrottle(clock);
  });

  /** Returns `right`, `wrong`, or the seconds to wait. */
  async function login(
    username: string,
    remoteAddress: string,
    isRight = false,
    entryPoint: EntryPoint = 'api',
  ): Promise<string | number> {
    try {
      const found = await throttle.login({ username, remoteAddress, entryPoint }, (onGuess) => {
        onGuess();
        return Promise.resolve(isRight ? username : undefined);
      });
      return found === undefined ? 'wrong' : 'right';
    } catch (error) {
      if (error instanceof TooManyLogins) return error.retryAfterS;
      throw error;
    }
  }

  /** Returns how many of many wrong guesses in a row are verified before one is rejected. */
  async function tried(guess: (n: number) => Promise<string | number>): Promise<number> {
    for (let n = 0; n < 2_000; n += 1) if ((await guess(n)) !== 'wrong') return n;
    throw new Error('nothing was refused');
  }

  it('allows ten wrong guesses at an account, from any addresses, and then one every 30 s', async () => {
    expect(await tried((n) => login('ann', `10.0.${n}.1`))).to.equal(10);
    expect(await login('ann', '10.9.9.9')).to.equal(30);
    await clock.advance(29_000);
    expect(await login('ann', '10.9.9.9')).to.equal(1);
    await clock.advance(1_000);
    expect(await login('ann', '10.9.9.9')).to.equal('wrong');
    expect(await login('ann', '10.9.9.9')).to.equal(30);
    expect(await login('bob', '10.9.9.9')).to.equal('wrong');
    expect(throttle.refused).to.equal(4);
  });

  it('allows fifty wrong guesses from an address, at any accounts, and then one every 2 s', async () => {
    expect(await tried((n) => login(`user-${n}`, '10.0.0.1'))).to.equal(50);
    expect(await login('ann', '10.0.0.1', true)).to.equal(2);
    expect(await login('ann', '10.0.0.2')).to.equal('wrong');
    await clock.advance(2_000);
    expect(await login('ann', '10.0.0.1', true)).to.equal('right');
  });

  it('allows guesses again after an hour, however many were made', async () => {
    for (let n = 0; n < 5_000; n += 1) await login(`user-${n % 7}`, '10.0.0.1');
    await clock.advance(HOUR_MS);
    expect(await tried(() => login('user-1', '10.0.0.1'))).to.equal(10);
  });

  it('resets the count of an account after a successful login', async () => {
    for (let n = 0; n < 9; n += 1) await login('ann', '10.0.0.1');
    expect(await login('ann', '10.0.0.1', true)).to.equal('right');
    expect(await tried(() => login('ann', '10.0.0.1'))).to.equal(10);
  });

  it('does not count logins that succeed', async () => {
    for (let n = 0; n < 200; n += 1) expect(await login('ann', '10.0.0.1', true)).to.equal('right');
    expect(await tried((n) => login(`user-${n}`, '10.0.0.1'))).to.equal(50);
  });

  it('allows a user with an earlier login from the address, whatever others guess at the account from elsewhere', async () => {
    await login('ann', '10.0.0.1', true);
    expect(await tried((n) => login('ann', `10.1.${n}.1`))).to.equal(10);
    expect(await login('ann', '10.0.0.2', true)).to.equal(30);
    expect(await login('ann', '10.0.0.1', true)).to.equal('right');
    expect(await tried(() => login('ann', '10.0.0.1'))).to.equal(10);
  });

  it('allows a user with an earlier login from the address, whatever others guess at other accounts from there', async () => {
    await login('ann', '10.0.0.1', true);
    expect(await tried((n) => login(`user-${n}`, '10.0.0.1'))).to.equal(50);
    expect(await login('bob', '10.0.0.1', true)).to.equal(2);
    expect(await login('ann', '10.0.0.1', true)).to.equal('right');
  });

  it('counts accounts and addresses over both ports together', async () => {
    const from = (n: number) => (n % 2 === 0 ? 'api' : 'agents');
    expect(await tried((n) => login('ann', `10.0.${n}.1`, false, from(n)))).to.equal(10);
    expect(await tried((n) => login(`user-${n}`, '10.9.9.9', false, from(n)))).to.equal(50);
    expect([await login('ann', '10.1.1.1'), await login('ann', '10.1.1.1', true, 'agents')]).to.deep.equal([30, 30]);
  });

  it('allows the agents of an account when some of them have an old password, and bounds the guesses', async () => {
    await login('agent', '10.0.0.1', true, 'agents');
    for (let minute = 0; minute < 10; minute += 1) {
      for (let n = 0; n < 60; n += 1) expect(await login('agent', '10.0.0.1', false, 'agents')).to.equal('wrong');
      expect(await login('agent', '10.0.0.1', true, 'agents')).to.equal('right');
      await clock.advance(60_000);
    }
    expect(await tried(() => login('agent', '10.0.0.1', false, 'agents'))).to.equal(1_000);
    expect(await login('agent', '10.0.0.1', true, 'agents')).to.equal(1);
    await clock.advance(1_000);
    expect(await login('agent', '10.0.0.1', true, 'agents')).to.equal('right');
  });

  it('does not allow more guesses at the API after agents have logged in from the same address', async () => {
    await login('admin', '10.0.0.1', true, 'agents');
    expect(await tried(() => login('admin', '10.0.0.1'))).to.equal(10);
  });

  it('counts guesses that are still being verified', async () => {
    const guesses = Array.from({ length: 20 }, (_, n) => login('ann', `10.0.${n}.1`));
    const outcomes = await Promise.all(guesses);
    expect(outcomes.filter((outcome) => outcome === 'wrong')).to.have.lengthOf(10);
  });

  it('does not count cached credentials and logins that were not verified', async () => {
    for (let n = 0; n < 100; n += 1) {
      const [ann, bob] = [attemptOf('ann', '10.0.0.1'), attemptOf('bob', '10.0.0.2')];
      expect(await throttle.login(ann, () => Promise.resolve('ann'))).to.equal('ann');
      const failing = throttle.login(bob, (onGuess) => {
        onGuess();
        return Promise.reject(new Error('no room'));
      });
      expect(await failing.catch(String)).to.equal('Error: no room');
    }
    expect(await tried(() => login('bob', '10.0.0.2'))).to.equal(10);
  });

  const addresses: [string, string, string, boolean][] = [
    ['IPv4 in either spelling', '10.0.0.1', '::ffff:10.0.0.1', true],
    ['one IPv6 network', '2001:db8:0:1::1', '2001:db8:0:1:2:3:4:5', true],
    ['one IPv6 network that ends in zeros', '2001:db8::1', '2001:db8:0:0:ffff::', true],
    ['two IPv6 networks', '2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['two IPv4 addresses', '10.0.0.1', '10.0.0.2', false],
  ];
  for (const [what, one, other, isSame] of addresses) {
    it(`counts ${what} as ${isSame ? 'one address' : 'two addresses'}`, async () => {
      await tried((n) => login(`user-${n}`, one));
      expect(await login('ann', other)).to.equal(isSame ? 2 : 'wrong');
    });
  }

  it('remembers at most 10,000 accounts, addresses and logins', async () => {
    for (let n = 0; n < 10_100; n += 1) {
      await login(`user-${n}`, `10.0.${n >> 8}.${n & 255}`);
      await login(`user-${n}`, `10.0.${n >> 8}.${n & 255}`, true);
    }
    for (let n = 0; n < 10_100; n += 1) await login(`other-${n}`, `10.1.${n >> 8}.${n & 255}`);
    const full = { used: 10_000, limit: 10_000 };
    expect([throttle.accounts, throttle.addresses, throttle.logins]).to.deep.equal([full, full, full]);
  });
});
