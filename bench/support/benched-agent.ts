import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';

const PROGRAM = fileURLToPath(new URL('../../bin/mon-agent.js', import.meta.url));
const NO_ENTITY = 'entity_config\n{"metadata":{"name":"not found","namespace":"default"},"entity_class":"agent"}';

interface MetricsEvent {
  metrics?: { points: { name: string; value: number }[] };
}

/** A running agent at a backend that only acknowledges what it receives. */
export interface BenchedAgent {
  child: ChildProcess;
  /** From the start of the process to its first keepalive, ms. */
  startMs: number;
  /** The sums of all metric points since the start, by name. */
  sums: ReadonlyMap<string, number>;
}

/** Starts an agent with these flags and ends it when `measure` resolves. */
export async function withAgent<T>(flags: readonly string[], measure: (agent: BenchedAgent) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'mon-bench-agent-'));
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  server.on('headers', (lines) => lines.push('Mon-Ack: 1'));
  const sums = new Map<string, number>();
  const keepalive = new Promise<number>((resolve) => {
    server.on('connection', (socket) => {
      socket.send(NO_ENTITY);
      socket.on('message', (data: Buffer) => {
        const end = data.indexOf('\n');
        const type = data.toString('latin1', 0, end);
        if (type === 'keepalive') resolve(performance.now());
        else socket.send(`ack\n${type.slice('event '.length)}`);
        const { metrics } = JSON.parse(data.toString('utf8', end + 1)) as MetricsEvent;
        for (const { name, value } of metrics?.points ?? []) sums.set(name, (sums.get(name) ?? 0) + value);
      });
    });
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = ['--backend-url', url, '--cache-dir', directory, '--api-port', '0', '--socket-port', '0'];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'start', ...own, ...flags], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(child, 'close');
  try {
    const failed = ended.then(() => {
      throw new Error('the agent ended at its start');
    });
    const startMs = (await Promise.race([keepalive, failed])) - startedMs;
    return await measure({ child, startMs, sums });
  } finally {
    child.kill('SIGKILL');
    await ended;
    server.close();
    for (const socket of server.clients) socket.terminate();
    await rm(directory, { recursive: true, force: true });
  }
}
