import { EventEmitter } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { Session } from '../../../src/agent/connection/session.ts';
import { EventQueue } from '../../../src/agent/queue/event-queue.ts';
import { parseEvent } from '../../../src/resources/event.ts';
import { type Codec, protobufCodec } from '../../../src/wire/codec.ts';
import { encodeJson } from '../../../src/wire/json-codec.ts';
import { checkEvent } from '../../support/example-events.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const LARGE_CHARACTERS = 2 * 1024 * 1024;
const payloadOf = (output: string): string => encodeJson(parseEvent(checkEvent('web-01', 'disk', { output })));

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly frames: string[] = [];

  send(frame: Buffer, done: () => void): void {
    this.frames.push(frame.toString('latin1', 0, frame.indexOf('\n')));
    setImmediate(done);
  }
}

/** A session with a queue, whose steps are recorded with the tick of the event loop that they happen in. */
function sessionWith(...payloads: readonly string[]) {
  const clock = new ManualClock();
  const log = new RecordedLog();
  const queue = new EventQueue(undefined, 100, { clock, log });
  for (const payload of payloads) queue.push(payload, 'web-01/disk');
  const socket = new FakeSocket();
  const encodedAt: number[] = [];
  let tick = 0;
  const codec: Codec = {
    ...protobufCodec,
    encodeEvent(event) {
      encodedAt.push(tick);
      return protobufCodec.encodeEvent(event);
    },
  };
  const session = new Session(
    socket as unknown as WebSocket,
    { acknowledging: true, codec },
    { intervalMs: 0, timeoutMs: 0 },
    { clock, log, queue, metrics: { count: () => undefined }, received: () => undefined },
  );
  const pass = async (): Promise<number> => {
    await nextTick();
    return ++tick;
  };
  return { session, socket, encodedAt, pass };
}

describe('a session with a large event', () => {
  it('parses, encodes and sends it in different ticks of the event loop, before the events after it', async () => {
    const { session, socket, encodedAt, pass } = sessionWith(
      payloadOf('x'.repeat(LARGE_CHARACTERS)),
      payloadOf('short'),
    );
    session.flush();
    expect(encodedAt).to.deep.equal([]);
    let sentAt = 0;
    while (socket.frames.length < 2) {
      const now = await pass();
      session.flush();
      if (socket.frames.length > 0 && sentAt === 0) sentAt = now;
    }
    expect(socket.frames).to.deep.equal(['event 1', 'event 2']);
    expect(sentAt - (encodedAt[0] ?? 0)).to.be.at.least(2);
  });

  it('does not send it when the connection closes meanwhile', async () => {
    const { session, socket, encodedAt, pass } = sessionWith(payloadOf('x'.repeat(LARGE_CHARACTERS)));
    session.flush();
    socket.readyState = 2;
    while (encodedAt.length === 0) await pass();
    for (let ticks = 0; ticks < 5; ticks += 1) await pass();
    expect(socket.frames).to.deep.equal([]);
  });

  it('sends small events at once', () => {
    const { session, socket } = sessionWith(payloadOf('one'), payloadOf('two'));
    session.flush();
    expect(socket.frames).to.deep.equal(['event 1', 'event 2']);
  });
});
