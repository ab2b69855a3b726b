import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import { memoryOf } from '../../bench/support/process-stats.ts';
import { AgentProcess } from '../agent/agent-process.ts';
import { soakMinutes } from './soak-minutes.ts';

const MINUTES = soakMinutes();
const MINUTE_MS = 60_000;
const CHECKS = 100;
const INTERVAL_S = 10;
const SAMPLE_MS = 5_000;
/** A small young generation: a large one grows by tens of megabytes without a leak. */
const HEAP_OPTIONS = { NODE_OPTIONS: '--max-semi-space-size=1' };
/** The noise of the garbage collector. */
const MAX_GROWTH_MB = 8;
const MAX_MORE_DESCRIPTORS = 4;
const NO_ENTITY = 'entity_config\n{"metadata":{"name":"not found","namespace":"default"},"entity_class":"agent"}';

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

describe('an agent that runs a hundred checks', () => {
  it('keeps its memory and its descriptors, and loses no result', async function () {
    this.timeout((MINUTES + 2) * MINUTE_MS);
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('headers', (lines) => lines.push('Mon-Ack: 1'));
    const counts = { requested: 0, received: 0, failed: 0 };
    server.on('connection', (socket: WebSocket) => {
      socket.send(NO_ENTITY);
      socket.on('message', (data: Buffer) => {
        const [, n] = /^event (\d+)\n/.exec(data.toString('latin1', 0, 30)) ?? [];
        if (n === undefined) return;
        counts.received += 1;
        if (!data.includes('"output":"fine')) counts.failed += 1;
        socket.send(`ack\n${n}`);
      });
    });
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const agent = new AgentProcess(['start', '--backend-url', url, '--log-level', 'warn'], HEAP_OPTIONS);
    const pid = agent.child.pid ?? 0;
    const samples: { mb: number; descriptors: number }[] = [];
    try {
      const [socket] = (await once(server, 'connection')) as [WebSocket];
      await once(socket, 'message');
      const endMs = performance.now() + MINUTES * MINUTE_MS;
      for (let slot = 0; performance.now() < endMs; slot += 1) {
        const metadata = { name: `check-${slot % CHECKS}`, namespace: 'default' };
        const config = {
          metadata,
          command: 'echo "fine | load=1"',
          interval: INTERVAL_S,
          output_metric_format: 'nagios_perfdata',
        };
        const request = { config, issued: 1_700_000_000 + slot, assets: null, hooks: null };
        socket.send(`check_request\n${JSON.stringify(request)}`);
        counts.requested += 1;
        if (slot % (SAMPLE_MS / 100) === 0) {
          samples.push({ mb: memoryOf(pid).residentMb, descriptors: readdirSync(`/proc/${pid}/fd`).length });
        }
        await delay((INTERVAL_S * 1_000) / CHECKS);
      }
      await delay(5_000);
      const quarter = samples.length >> 2;
      const early = samples.slice(quarter, 2 * quarter);
      const late = samples.slice(-quarter);
      const [earlyMb, lateMb] = [median(early.map(({ mb }) => mb)), median(late.map(({ mb }) => mb))];
      const descriptors = late.map((sample) => sample.descriptors);
      console.log(JSON.stringify({ minutes: MINUTES, ...counts, earlyMb, lateMb, descriptors: median(descriptors) }));
      expect(counts).to.include({ received: counts.requested, failed: 0 });
      expect(lateMb - earlyMb).to.be.below(MAX_GROWTH_MB);
      const moreDescriptors = median(descriptors) - median(early.map((sample) => sample.descriptors));
      expect(moreDescriptors).to.be.below(MAX_MORE_DESCRIPTORS);
    } finally {
      await agent.kill();
      server.close();
      for (const client of server.clients) client.terminate();
    }
  });
});
