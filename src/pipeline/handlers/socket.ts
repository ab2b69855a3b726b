import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../../ports/clock.ts';
import type { Handler } from '../../resources/handler.ts';
import { type HandlerRun, isShortage } from './handler-result.ts';

const DEFAULT_TIMEOUT_S = 60;
/** How long the receiver may keep the connection open after it has received everything. */
const CLOSING_MS = 2_000;

interface Sending {
  host: string;
  port: number;
  payload: string | Buffer;
  /** Aborts the transfer with the signal's reason. */
  signal: AbortSignal;
  clock: Clock;
}

/**
 * Sends the event as it is, by one connection or datagram, and reads nothing. The timeout covers connecting and
 * sending.
 */
export async function runSocketHandler(
  { type, socket, timeout }: Handler,
  { payload, signal: end }: { payload: string | Buffer; signal: AbortSignal },
  clock: Clock,
): Promise<HandlerRun> {
  const limitS = timeout > 0 ? timeout : DEFAULT_TIMEOUT_S;
  const send = type === 'udp' ? sendDatagram : sendOverTcp;
  const run = new AbortController();
  const cancel = clock.after(limitS * 1_000, () => {
    run.abort(new Error(`not sent within ${limitS} seconds`));
  });
  const abort = (): void => {
    run.abort(end.reason);
  };
  end.addEventListener('abort', abort);
  if (end.aborted) abort();
  try {
    await send({ host: socket?.host ?? '', port: socket?.port ?? 0, payload, signal: run.signal, clock });
    return { outcome: 'handled', reason: '', status: undefined };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (isShortage((error as NodeJS.ErrnoException).code)) return { outcome: 'not-started', reason };
    return { outcome: 'failed', reason, status: undefined };
  } finally {
    cancel();
    end.removeEventListener('abort', abort);
  }
}

/** Resolves when the connection closes after everything was sent, even if the receiver resets it. */
function sendOverTcp({ host, port, payload, signal, clock }: Sending): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let isSent = false;
    let failure = new Error('connection closed before everything was sent');
    let endClosing = (): void => undefined;
    signal.addEventListener('abort', () => socket.destroy(errorOf(signal)));
    socket.on('error', (error) => {
      failure = error;
    });
    socket.once('connect', () => {
      socket.resume();
      socket.end(payload);
    });
    socket.once('finish', () => {
      isSent = true;
      endClosing = clock.after(CLOSING_MS, () => socket.destroy());
    });
    socket.once('close', () => {
      endClosing();
      if (isSent) resolve();
      else reject(failure);
    });
  });
}

async function sendDatagram({ host, port, payload, signal }: Sending): Promise<void> {
  signal.throwIfAborted();
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(errorOf(signal)));
      socket.on('error', reject);
      socket.send(payload, port, host, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  } finally {
    socket.close();
  }
}

const errorOf = ({ reason }: AbortSignal): Error => (reason instanceof Error ? reason : new Error(String(reason)));
