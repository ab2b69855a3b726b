import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export interface HttpAnswer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

export function http(port: number, method: string, path: string, body?: unknown): Promise<HttpAnswer> {
  const text = body === undefined ? '' : textOf(body);
  const headers = method === 'POST' || text !== '' ? { 'Content-Length': Buffer.byteLength(text) } : {};
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let received = '';
      response.on('data', (chunk: Buffer) => (received += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received }),
      );
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

export interface TcpOptions {
  chunks: readonly unknown[];
  gap_ms?: number;
  half_close?: boolean;
  wait_ms?: number;
}

/** `slow`: the answer took more than 4 s. */
export async function tcp(
  port: number,
  options: TcpOptions,
): Promise<{ text: string; closed: boolean; slow: boolean }> {
  const { chunks, gap_ms: gapMs = 30, half_close: halfClose = true, wait_ms: waitMs = 7_000 } = options;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  let text = '';
  let closed = false;
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    socket.on('end', () => {
      closed = true;
      resolve();
    });
  });
  const beganMs = performance.now();
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await wait(gapMs);
    socket.write(textOf(chunk));
  }
  if (halfClose) socket.end();
  const limit = new AbortController();
  await Promise.race([ended, wait(waitMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
  limit.abort();
  socket.destroy();
  return { text, closed, slow: performance.now() - beganMs > 4_000 };
}

export async function udp(port: number, packets: readonly unknown[]): Promise<void> {
  const socket = createSocket('udp4');
  for (const packet of packets) {
    await new Promise<void>((resolve, reject) => {
      socket.send(textOf(packet), port, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
    });
  }
  await new Promise<void>((resolve) => socket.close(resolve));
}
