import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { Tickets } from '../../src/auth/tickets.ts';
import { Overloaded, Unauthenticated } from '../../src/resources/errors.ts';
import { ApiUnderTest } from '../http/api-under-test.ts';
import { perSuite } from '../support/fixture.ts';

const PATH = '/api/mon/v1/tickets';

describe('WebSocket tickets', () => {
  const api = perSuite(() => ApiUnderTest.start());
  let tickets: Tickets;
  beforeEach(() => {
    const get = (_kind: string, _namespace: string | undefined, username: string) =>
      ({ username, groups: ['ops'], disabled: username === 'disabled' }) as never;
    tickets = new Tickets({ clock: api.clock, resources: { get, tokenSessions: () => undefined } });
  });

  const caller = (username: string) => ({ username, groups: [] });

  it('are issued to logged-in users and are all different', async () => {
    const token = await api.userWith('nobody', []);
    const headers = { authorization: `Bearer ${token}` };
    const [one, other] = [
      await api.send({ method: 'POST', path: PATH, headers }),
      await api.send({ method: 'POST', path: PATH, headers }),
    ];
    const { ticket, expires_at } = one.body as { ticket: string; expires_at: number };
    expect([one.status, expires_at]).to.deep.equal([201, Math.floor(api.clock.nowMs() / 1_000) + 60]);
    expect(one.headers['cache-control']).to.equal('no-store');
    expect(ticket).to.match(/^[\w-]{43}$/);
    expect((other.body as { ticket: string }).ticket).to.not.equal(ticket);
    expect(api.auth.tickets.redeem(ticket).username).to.equal('nobody');
  });

  it('need credentials', async () => {
    expect(await api.send({ method: 'POST', path: PATH, headers: { authorization: '' } })).to.have.property(
      'status',
      401,
    );
  });

  it('identify their user once, with the current groups of the user', () => {
    const { ticket } = tickets.issue(caller('ann'));
    expect(tickets.redeem(ticket)).to.deep.equal({ username: 'ann', groups: ['ops', 'system:users'] });
    expect(() => tickets.redeem(ticket)).to.throw(Unauthenticated);
  });

  it('can be redeemed only once, also by a disabled user', () => {
    const { ticket } = tickets.issue(caller('disabled'));
    expect(() => tickets.redeem(ticket)).to.throw(Unauthenticated, 'the user of the ticket is disabled');
    expect(() => tickets.redeem(ticket)).to.throw(Unauthenticated, 'the ticket is unknown');
  });

  it('become invalid with the session in which they were issued, and not with another one', async () => {
    await api.putUser('eve', {});
    const [kept, ended] = [await api.login('eve', 'eve'), await api.login('eve', 'eve')];
    const ticketOf = async (token: string): Promise<string> => {
      const headers = { authorization: `Bearer ${token}` };
      return ((await api.send({ method: 'POST', path: PATH, headers })).body as { ticket: string }).ticket;
    };
    const [good, stale] = [await ticketOf(kept), await ticketOf(ended)];
    await api.commands.endTokenSession('eve', String(decodeJwt(ended)['session_id']));
    expect(() => api.auth.tickets.redeem(stale)).to.throw(Unauthenticated, 'or logged out');
    expect(api.auth.tickets.redeem(good).username).to.equal('eve');
  });

  it('are limited to twenty for each user until they are used or expire', async () => {
    const issued = Array.from({ length: 20 }, () => tickets.issue(caller('ann')).ticket);
    expect(() => tickets.issue(caller('ann'))).to.throw(Overloaded, 'at most 20 tickets of a user');
    tickets.issue(caller('bob'));
    tickets.redeem(issued[7] ?? '');
    tickets.issue(caller('ann'));
    expect(() => tickets.issue(caller('ann'))).to.throw(Overloaded);
    await api.clock.advance(60_000);
    tickets.issue(caller('ann'));
  });

  it('are limited to a thousand for all users together', () => {
    for (let n = 0; n < 1_000; n += 1) tickets.issue(caller(`user-${n}`));
    expect(tickets.unused).to.deep.equal({ used: 1_000, limit: 1_000, refused: 0 });
    expect(() => tickets.issue(caller('one-more'))).to.throw(Overloaded, 'at most 1000 tickets');
    expect(tickets.unused).to.deep.equal({ used: 1_000, limit: 1_000, refused: 1 });
  });

  it('do not count when they have expired', async () => {
    tickets.issue(caller('ann'));
    expect(tickets.unused).to.include({ used: 1 });
    await api.clock.advance(60_000);
    expect(tickets.unused).to.include({ used: 0 });
  });
});
