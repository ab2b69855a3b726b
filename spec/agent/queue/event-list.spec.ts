import { expect } from 'chai';
import fc from 'fast-check';
import { EventList, type WaitingEvent } from '../../../src/agent/queue/event-list.ts';

const CHECKS = ['a', 'b', 'c'];
/** Enough removals that the list drops the slots of removed events. */
const MANY = 3_000;

const eventOf = (n: number, check: string): WaitingEvent => ({
  n,
  check,
  bytes: n,
  acceptedAtMs: 0,
  payload: String(n),
  place: 'memory',
});

/** Takes what `next` yields until nothing is left. */
function drain(list: EventList): number[] {
  const sent: number[] = [];
  for (let event = list.next; event !== undefined; event = list.next) {
    sent.push(event.n);
    list.markSent();
  }
  return sent;
}

describe('the list of unconfirmed events', () => {
  it('has the size, the order and the position of a plain array, whatever is removed', () => {
    const step = fc.record({
      do: fc.constantFrom('append', 'send', 'confirm', 'remove', 'displace', 'rewind'),
      part: fc.double({ min: 0, max: 0.999, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const list = new EventList();
        let model: WaitingEvent[] = [];
        let last = 0;
        let sentUpTo = 0;
        for (const { do: what, part } of steps) {
          const chosen = model[Math.floor(part * model.length)];
          const check = CHECKS[Math.floor(part * CHECKS.length)] ?? '';
          if (what === 'append') {
            const event = eventOf(++last, check);
            list.append(event);
            model.push(event);
          } else if (what === 'send') {
            const { next } = list;
            expect(next).to.equal(model.find(({ n }) => n > sentUpTo));
            if (next === undefined) continue;
            list.markSent();
            sentUpTo = next.n;
          } else if (what === 'confirm') {
            const upTo = Math.floor(part * (last + 1));
            const confirmed = [...list.removeSent(upTo)];
            expect(confirmed).to.deep.equal(model.filter(({ n }) => n <= Math.min(upTo, sentUpTo)));
            model = model.filter(({ n }) => n > Math.min(upTo, sentUpTo));
          } else if (what === 'remove' && chosen !== undefined) {
            list.remove(chosen);
            model = model.filter((event) => event !== chosen);
          } else if (what === 'displace') {
            const [oldest] = list.oldestFirst(check);
            expect(oldest).to.equal(model.find((event) => event.check === check) ?? model[0]);
          } else if (what === 'rewind') {
            list.rewind();
            sentUpTo = 0;
          }
          expect([list.size, list.bytes]).to.deep.equal([
            model.length,
            model.reduce((sum, { bytes }) => sum + bytes, 0),
          ]);
          if (chosen !== undefined) expect(list.find(chosen.n)).to.equal(model.find(({ n }) => n === chosen.n));
        }
      }),
    );
  });

  it('yields the events of a check first and keeps its position, while many are removed', () => {
    const list = new EventList();
    for (let n = 1; n <= 2 * MANY; n += 1) list.append(eventOf(n, n % 2 === 0 ? 'even' : 'odd'));
    for (let n = 1; n <= MANY; n += 1) list.markSent();
    const displaced: number[] = [];
    for (const event of list.oldestFirst('even')) {
      if (displaced.length === MANY + 10) break;
      displaced.push(event.n);
      list.remove(event);
    }
    const evens = Array.from({ length: MANY }, (_, at) => 2 * at + 2);
    expect(displaced).to.deep.equal([...evens, ...Array.from({ length: 10 }, (_, at) => 2 * at + 1)]);
    expect(drain(list).slice(0, 2)).to.deep.equal([MANY + 1, MANY + 3]);
    list.rewind();
    expect(list.next?.n).to.equal(21);
  });
});
