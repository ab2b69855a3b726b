import { expect } from 'chai';
import fc from 'fast-check';
import {
  isIssuerOf,
  NO_SESSIONS,
  onlySession,
  refreshed,
  type RefreshTerms,
  sessionOf,
  type TokenSession,
  type TokenSessions,
  withoutSession,
  withSession,
} from '../../src/rules/token-sessions.ts';

const HOURS_MS = 3_600_000;
const terms = (jti: string, issuedAtMs = 0): RefreshTerms => ({ jti, issuedAtMs, issuer: `http://${jti}` });
const opened = (id: string, atMs = 0): TokenSession => ({ id, current: terms(`${id}1`, atMs), previous: null });
const ids = ({ sessions }: TokenSessions): string[] => sessions.map(({ id }) => id);

describe('the login sessions of a user', () => {
  const refresh = (of: TokenSessions, session: string, jti: string, next: RefreshTerms) =>
    refreshed(of, { session, jti, next });

  it('exchange the current refresh token for a new one, which is then the only valid one', () => {
    const { outcome, after } = refresh(withSession(NO_SESSIONS, opened('a'), 0), 'a', 'a1', terms('a2', 60_000));
    expect(outcome).to.deep.equal({ type: 'refreshed', terms: terms('a2', 60_000) });
    expect(refresh(after, 'a', 'a2', terms('a3', 120_000)).outcome.type).to.equal('refreshed');
  });

  const again: [string, number, string, string[]][] = [
    ['at once', 60_000, 'repeated', ['a']],
    ['just within ten seconds', 69_999, 'repeated', ['a']],
    ['after ten seconds', 70_000, 'reused', []],
  ];
  for (const [when, atMs, type, left] of again) {
    it(`treat the previous token as ${type} ${when}`, () => {
      const first = refresh(withSession(NO_SESSIONS, opened('a'), 0), 'a', 'a1', terms('a2', 60_000)).after;
      const { outcome, after } = refresh(first, 'a', 'a1', terms('a3', atMs));
      expect(outcome).to.deep.equal({ type, terms: type === 'repeated' ? terms('a2', 60_000) : undefined });
      expect(ids(after)).to.deep.equal(left);
    });
  }

  it('end one by one when a token older than the previous one is used', () => {
    const both = withSession(withSession(NO_SESSIONS, opened('a'), 0), opened('b'), 0);
    const second = refresh(both, 'a', 'a1', terms('a2', 1)).after;
    const third = refresh(second, 'a', 'a2', terms('a3', 2)).after;
    const { outcome, after } = refresh(third, 'a', 'a1', terms('a4', 3));
    expect([outcome.type, ids(after)]).to.deep.equal(['reused', ['b']]);
    expect(refresh(after, 'a', 'a3', terms('a4', 4)).outcome.type).to.equal('ended');
  });

  it('are removed at the next login when they were not refreshed for twelve hours', () => {
    const both = withSession(withSession(NO_SESSIONS, opened('a', 0), 0), opened('b', 1), 1);
    expect(ids(withSession(both, opened('c'), 12 * HOURS_MS))).to.deep.equal(['b', 'c']);
  });

  it('are limited to a hundred: the one refreshed longest ago ends', () => {
    let all = NO_SESSIONS;
    for (let n = 0; n < 100; n += 1) all = withSession(all, opened(`s${n}`), 0);
    all = refresh(all, 's0', 's01', terms('later', 1)).after;
    all = withSession(all, opened('last'), 1);
    expect(all.sessions).to.have.lengthOf(100);
    expect([sessionOf(all, 's0'), sessionOf(all, 'last')]).to.not.include(undefined);
    expect(sessionOf(all, 's1')).to.equal(undefined);
  });

  it('can be ended one by one, or all but one', () => {
    const three = ['a', 'b', 'c'].reduce((all, id) => withSession(all, opened(id), 0), NO_SESSIONS);
    expect(ids(withoutSession(three, 'b'))).to.deep.equal(['a', 'c']);
    expect(ids(withoutSession(three, 'x'))).to.deep.equal(['a', 'b', 'c']);
    expect(ids(onlySession(three, 'b'))).to.deep.equal(['b']);
    expect(ids(onlySession(three, undefined))).to.deep.equal([]);
  });

  it('contain the addresses by which they were last refreshed and the time before', () => {
    const moved = { id: 'a', current: terms('a2'), previous: terms('a1') };
    const known = ['http://a1', 'http://a2', 'http://a3', ''].map((issuer) => isIssuerOf(moved, issuer));
    expect(known).to.deep.equal([true, true, false, false]);
    expect(isIssuerOf(opened('a'), 'http://a2')).to.equal(false);
  });

  it('have exactly one valid refresh token, whatever was sent before', () => {
    const sent = fc.array(fc.record({ jti: fc.nat(6), waitMs: fc.nat(20_000) }), { maxLength: 30 });
    fc.assert(
      fc.property(sent, (requests) => {
        let all = withSession(NO_SESSIONS, { id: 'a', current: terms('0'), previous: null }, 0);
        let nowMs = 0;
        let issued = 0;
        for (const { jti, waitMs } of requests) {
          nowMs += waitMs;
          const before = sessionOf(all, 'a');
          const next = terms(String(issued + 1), nowMs);
          const { outcome, after } = refresh(all, 'a', String(jti), next);
          if (outcome.type === 'refreshed') issued += 1;
          expect(outcome.type === 'refreshed').to.equal(before?.current.jti === String(jti));
          if (outcome.terms !== undefined) expect(sessionOf(after, 'a')?.current).to.deep.equal(outcome.terms);
          else expect(sessionOf(after, 'a')).to.equal(undefined);
          all = after;
        }
      }),
    );
  });
});
