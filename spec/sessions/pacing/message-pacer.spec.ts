import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { MessagePacer, WaitingMessages } from '../../../src/sessions/pacing/message-pacer.ts';

describe('the message pacer', () => {
  let nowMs: number;
  let pacer: MessagePacer;
  let processed: string[];

  beforeEach(() => {
    nowMs = 0;
    pacer = new MessagePacer({ monotonicMs: () => nowMs });
    processed = [];
  });

  function connection(name: string, { takesMs = 1 } = {}): WaitingMessages {
    return new WaitingMessages({
      pacer,
      process: (message) => {
        processed.push(message.toString());
        nowMs += takesMs;
      },
      pause: () => processed.push(`pause ${name}`),
      processed: () => processed.push(`resume ${name}`),
    });
  }

  const send = (to: WaitingMessages, ...messages: (string | number)[]): void => {
    for (const message of messages) to.receive(Buffer.from(String(message)));
  };
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

  it('end a tick after 35 ms, and continue in the next one, in order', async () => {
    send(connection('a'), ...numbers(90));
    const names = (): string[] => processed.filter((what) => !what.includes(' '));
    expect(names()).to.have.length(35);
    await nextTick();
    expect(names()).to.have.length(70);
    await nextTick();
    expect(names()).to.deep.equal(numbers(90).map(String));
    expect(processed.at(-1)).to.equal('resume a');
  });

  it('do not make those of other connections wait', () => {
    send(connection('a', { takesMs: 35 }), 'first', 'second');
    send(connection('b'), 'own');
    expect(processed).to.deep.equal(['first', 'pause a', 'own']);
  });

  it('alternate between connections whose messages wait', async () => {
    const [one, other] = [connection('a', { takesMs: 35 }), connection('b', { takesMs: 35 })];
    send(one, 'first', '1', '2', '3');
    send(other, 'second', '4');
    await pacer.empty();
    const order = 'first, second, 1, 4, resume b, 2, 3, resume a';
    expect(processed.filter((what) => !what.startsWith('pause')).join(', ')).to.equal(order);
  });

  it('process a message at once when the tick has time and no other one of the connection waits', () => {
    send(connection('a'), 'one', 'two');
    expect(processed).to.deep.equal(['one', 'two']);
  });

  it('end a connection after its last message', async () => {
    const one = connection('a', { takesMs: 35 });
    send(one, 'one', 'two');
    one.end(() => processed.push('end'));
    const empty = pacer.empty().then(() => processed.push('empty'));
    await nextTick();
    await empty;
    expect(processed).to.deep.equal(['one', 'pause a', 'two', 'resume a', 'end', 'empty']);
  });
});
