import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../../ports/clock.ts';
import type { Handler } from '../../resources/handler.ts';
import type { HandlerResult } from '../handler-run.ts';

const DEFAULT_TIMEOUT_S = 60;

/** One connection or datagram per event, nothing appended, nothing read. The timeout covers connecting and writing. */
export async function runSocketHandler(
  { type, socket, timeout }: Handler,
  { payload, signal: end }: { payload: string; signal: AbortSignal },
  clock: Clock,
): Promise<HandlerResult> {
  const host = socket?.host ?? '';
  const port = socket?.port ?? 0;
  const send = type === 'udp' ? sendDatagram : sendOverTcp;
  const limitMs = (timeout > 0 ? timeout : DEFAULT_TIMEOUT_S) * 1_000;
  try {
    await within(limitMs, clock, (late) => send(host, port, payload, AbortSignal.any([late, end])));
    return { outcome: 'handled', reason: '', status: undefined };
  } catch (error) {
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error), status: undefined };
  }
}

async function within(limitMs: number, clock: Clock, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const cancel = clock.after(limitMs, () => {
    controller.abort(new Error(`not sent within ${limitMs / 1_000} seconds`));
  });
  try {
    await run(controller.signal);
  } finally {
    cancel();
  }
}

function sendOverTcp(host: string, port: number, payload: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const abort = (): void => {
      socket.destroy(signal.reason instanceof Error ? signal.reason : undefined);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.end(payload, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      socket.resume();
    });
  });
}

function sendDatagram(host: string, port: number, payload: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const done = (error?: Error | null): void => {
      socket.close();
      if (error) reject(error);
      else resolve();
    };
    socket.once('error', done);
    signal.addEventListener(
      'abort',
      () => {
        done(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      },
      { once: true },
    );
    socket.send(payload, port, host, done);
  });
}
