import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { Credentials, hashPassword } from '../../src/auth/credentials.ts';
import { Overloaded } from '../../src/resources/errors.ts';
import { type User, userWithDefaults } from '../../src/resources/user.ts';
import type { ResourceStore } from '../../src/store/resource-store.ts';

const user = (password: string, more: Partial<User> = {}): User =>
  userWithDefaults({ username: 'ann', password_hash: hashSync(password, { cost: 4 }), ...more });

describe('user credentials', () => {
  let stored: User | undefined;
  let credentials: Credentials;
  let resources: Pick<ResourceStore, 'get'>;
  beforeEach(() => {
    stored = user('right');
    resources = {
      get: (_kind: string, _namespace: undefined, name: string) => (name === 'ann' ? stored : undefined),
    } as Pick<ResourceStore, 'get'>;
    credentials = new Credentials(resources);
  });

  const cases: [string, string, string, boolean][] = [
    ['the right password', 'ann', 'right', true],
    ['a wrong password', 'ann', 'wrong', false],
    ['no password', 'ann', '', false],
    ['an unknown user', 'bob', 'right', false],
    ['no user', '', 'right', false],
    ['a user as a path', './ann', 'right', false],
    ['a user that no key can hold', 'x'.repeat(5_000), 'right', false],
  ];
  for (const [what, name, password, accepted] of cases) {
    it(`are ${accepted ? 'accepted' : 'refused'} with ${what}, both times that they are verified`, async () => {
      for (let time = 1; time <= 2; time += 1) {
        expect(await credentials.verify(name, password)).to.equal(accepted ? stored : undefined);
      }
    });
  }

  it('are invalid as soon as the password changes', async () => {
    await credentials.verify('ann', 'right');
    stored = user('new');
    expect(await credentials.verify('ann', 'right')).to.equal(undefined);
    expect(await credentials.verify('ann', 'new')).to.equal(stored);
  });

  it('are invalid as soon as the user is disabled or deleted, cached or not', async () => {
    const disabled = { ...user('right'), disabled: true };
    stored = disabled;
    expect(await credentials.verify('ann', 'right')).to.equal(undefined);
    stored = { ...disabled, disabled: false };
    expect(await credentials.verify('ann', 'right')).to.equal(stored);
    stored = disabled;
    expect(await credentials.verify('ann', 'right')).to.equal(undefined);
    stored = undefined;
    expect(await credentials.verify('ann', 'right')).to.equal(undefined);
  });

  it('are rejected when the user is disabled during the verification', async () => {
    const verification = credentials.verify('ann', 'right');
    stored = { ...user('right'), disabled: true };
    expect(await verification).to.equal(undefined);
  });

  it('are refused for a user without a password', async () => {
    stored = user('right', { password_hash: '' });
    expect(await credentials.verify('ann', 'right')).to.equal(undefined);
  });

  it('are verified alike for a thousand clients that send the same ones at once', async () => {
    const found = await Promise.all(Array.from({ length: 1_000 }, () => credentials.verify('ann', 'right')));
    expect(new Set(found)).to.deep.equal(new Set([stored]));
  });

  it('are rejected with Overloaded while too many wait, and accepted again afterwards', async () => {
    // Real hashes would take 7 s here.
    credentials = new Credentials(resources, async (password) => {
      await new Promise((resolve) => setImmediate(resolve));
      return password === 'right';
    });
    const guesses = Array.from({ length: 200 }, (_, n) => credentials.verify(`user-${n}`, 'guess'));
    expect([credentials.running, credentials.waiting]).to.deep.equal([
      { used: 2, limit: 2 },
      { used: 128, limit: 128, refused: 70 },
    ]);
    const outcomes = await Promise.allSettled(guesses);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).to.have.lengthOf(70);
    for (const { reason } of refused) expect(reason).to.be.instanceOf(Overloaded);
    expect(await credentials.verify('ann', 'right')).to.equal(stored);
    expect(credentials.waiting).to.include({ used: 0, refused: 70 });
    expect(credentials.running).to.include({ used: 0 });
    expect(credentials.remembered).to.include({ used: 1 });
  });

  it('of one user, even if many are sent at once, leave room for those of other users', async () => {
    stored = user('right');
    const guesses = Array.from({ length: 200 }, (_, n) => credentials.verify('bob', `guess ${n}`));
    expect(credentials.waiting).to.deep.equal({ used: 8, limit: 128, refused: 190 });
    const right = credentials.verify('ann', 'right');
    const outcomes = await Promise.allSettled(guesses);
    for (const outcome of outcomes.filter(({ status }) => status === 'rejected')) {
      expect(outcome).to.have.property('reason').that.is.instanceOf(Overloaded);
    }
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(10);
    expect(await right).to.equal(stored);
    expect(await credentials.verify('bob', 'another guess')).to.equal(undefined);
  });

  it('are accepted for a password that the backend hashed', async () => {
    stored = { ...user('x'), password_hash: await hashPassword('pässwörd') };
    expect(await credentials.verify('ann', 'pässwörd')).to.equal(stored);
  });

  it('are hashed once at the same cost whether or not the user exists, and report each guess', async () => {
    const hashed: string[] = [];
    const counting = new Credentials(resources, (_password, passwordHash) => {
      hashed.push(passwordHash);
      return Promise.resolve(false);
    });
    stored = userWithDefaults({ username: 'ann', password_hash: await hashPassword('right') });
    let guesses = 0;
    const guess = (name: string) => counting.verify(name, 'wrong', () => (guesses += 1));
    for (const name of ['ann', 'bob', '', './ann', 'x'.repeat(5_000)]) {
      hashed.length = 0;
      expect(await guess(name)).to.equal(undefined);
      expect(hashed.map((passwordHash) => passwordHash.slice(0, 7))).to.deep.equal(['$2b$10$']);
    }
    stored = { ...stored, disabled: true };
    await guess('ann');
    expect([hashed.length, guesses]).to.deep.equal([2, 6]);
  });

  it('cost as much as others when they are wrong and the stored hash is cheaper', async () => {
    const hashed: string[] = [];
    const counting = new Credentials(resources, (password, passwordHash) => {
      hashed.push(passwordHash);
      return Promise.resolve(password === 'right');
    });
    expect(await counting.verify('ann', 'wrong')).to.equal(undefined);
    expect(hashed.map((passwordHash) => passwordHash.slice(0, 7))).to.deep.equal(['$2b$04$', '$2b$10$']);
    expect(await counting.verify('ann', 'right')).to.equal(stored);
    expect(hashed).to.have.lengthOf(3);
  });

  it('count as one guess when the same ones are sent at once, and as none when they are cached', async () => {
    let guesses = 0;
    const onGuess = () => void (guesses += 1);
    await Promise.all(Array.from({ length: 50 }, () => credentials.verify('ann', 'right', onGuess)));
    await credentials.verify('ann', 'right', onGuess);
    expect(guesses).to.equal(1);
  });

  it('leave the event loop free while they are hashed', async () => {
    let ticks = 0;
    let isDone = false;
    const tick = (): void => {
      ticks += 1;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    await credentials.verify('bob', 'wrong').finally(() => (isDone = true));
    expect(ticks).to.be.above(2);
  });
});
