import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../../ports/clock.ts';
import type { Handler } from '../../resources/handler.ts';
import type { ClosingSockets } from './closing-sockets.ts';
import { isShortage } from '../../rules/shortage.ts';
import type { HandlerInput, HandlerRun } from './handler-result.ts';

const DEFAULT_TIMEOUT_S = 60;
/** A datagram that is too long, or a port that does not exist: a later attempt would fail as well. */
const LASTING = new Set(['EMSGSIZE', 'ERR_SOCKET_BAD_PORT']);

interface Sending {
  host: string;
  port: number;
  payload: string | Buffer;
  /** Aborts the transfer with the signal's reason. */
  signal: AbortSignal;
  closing: ClosingSockets;
}

class TimedOut extends Error {}

/**
 * Sends the event as it is, by one connection or datagram, and reads nothing. The timeout covers connecting and
 * sending.
 */
export async function runSocketHandler(
  { type, socket, timeout }: Handler,
  { payload, signal: end }: Pick<HandlerInput, 'payload' | 'signal'>,
  clock: Clock,
  closing: ClosingSockets,
): Promise<HandlerRun> {
  const limitS = timeout > 0 ? timeout : DEFAULT_TIMEOUT_S;
  const send = type === 'udp' ? sendDatagram : sendOverTcp;
  const run = new AbortController();
  const cancel = clock.after(limitS * 1_000, () => {
    run.abort(new TimedOut(`not sent within ${limitS} seconds`));
  });
  const abort = (): void => {
    run.abort(end.reason);
  };
  end.addEventListener('abort', abort);
  if (end.aborted) abort();
  try {
    await send({ host: socket?.host ?? '', port: socket?.port ?? 0, payload, signal: run.signal, closing });
    return { outcome: 'handled', reason: '', status: undefined };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const { code } = error as NodeJS.ErrnoException;
    if (isShortage(code)) return { outcome: 'not-started', reason };
    const outcome = error instanceof TimedOut ? 'timed-out' : 'failed';
    return { outcome, reason, status: undefined, isUnreachable: !LASTING.has(code ?? '') };
  } finally {
    cancel();
    end.removeEventListener('abort', abort);
  }
}

/** Resolves when everything was handed to the system with the end of the stream. The connection is closed later. */
function sendOverTcp({ host, port, payload, signal, closing }: Sending): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let failure = new Error('connection closed before everything was sent');
    const abort = (): void => {
      socket.destroy(errorOf(signal));
    };
    signal.addEventListener('abort', abort);
    socket.on('error', (error) => {
      failure = error;
    });
    socket.once('connect', () => {
      socket.resume();
      socket.end(payload);
    });
    socket.once('finish', () => {
      signal.removeEventListener('abort', abort);
      closing.add(socket);
      resolve();
    });
    socket.once('close', () => {
      signal.removeEventListener('abort', abort);
      reject(failure);
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
