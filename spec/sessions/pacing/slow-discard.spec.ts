import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { discardSlowly } from '../../../src/sessions/pacing/slow-discard.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const AT_A_TIME = 16 * 1024 * 1024;

describe('data that arrives while a connection is being closed', () => {
  let socket: PassThrough;
  let clock: ManualClock;
  let webSocket: { readyState: WebSocket['readyState']; OPEN: 1 };

  beforeEach(() => {
    socket = new PassThrough();
    clock = new ManualClock();
    webSocket = { readyState: WebSocket.CLOSING, OPEN: WebSocket.OPEN };
    discardSlowly(socket, webSocket, clock);
  });

  const comes = (bytes: number): void => {
    socket.emit('data', Buffer.alloc(bytes));
  };

  it('is read 16 MiB at a time, half a second apart', async () => {
    comes(AT_A_TIME - 1);
    expect(socket.isPaused()).to.equal(false);
    comes(1);
    expect(socket.isPaused()).to.equal(true);
    await clock.advance(499);
    expect(socket.isPaused()).to.equal(true);
    await clock.advance(1);
    expect(socket.isPaused()).to.equal(false);
  });

  it('is read without delay before that', () => {
    webSocket.readyState = WebSocket.OPEN;
    comes(2 * AT_A_TIME);
    expect(socket.isPaused()).to.equal(false);
  });
});
