import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ADMIN } from '../support/api-client.ts';
import { at } from '../support/json-path.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { keepalive, proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';
import { basicHeader } from '../../src/wire/handshake.ts';
import type { ListRead, ListRequest } from './list-worker.ts';
import { ObservedProcess } from './observed-process.ts';

const OUTPUT_BYTES = 400_000;
const EVENTS = 263;
const LIST_BYTES = 100 * 1024 * 1024;
const LATE_MS = 250;
const KEEPALIVE_EVERY_MS = 10;
const STALLED_READERS = 8;
/** Memory allowed for each reader: a part of its list, and the noise of the heap. */
const STALLED_MB = 10;
const PATH = '/api/core/v2/namespaces/default/events';

describe('F17: a list of events of 100 MB', () => {
  const backend = perSuite(() => BackendProcess.start({ args: ['--entity-size-limit=0'] }));
  const api = perSuite(() => backend.login());
  const agent = perSuite(() => backend.connect({ name: 'web-01' }));

  before(async () => {
    const output = 'x'.repeat(OUTPUT_BYTES);
    for (let n = 0; n < EVENTS; n += 1) {
      const { status } = await api.put(
        `/ns/default/events/big/check-${n}`,
        proxyEvent('big', `check-${n}`, { output }),
      );
      expect(status).to.equal(200);
    }
  });

  async function bearer(): Promise<string> {
    const { json } = await api.request({
      method: 'GET',
      path: '/auth',
      headers: { authorization: basicHeader(ADMIN) },
    });
    return `Bearer ${String(at(json, 'access_token'))}`;
  }

  /** Reads the list in a process of its own. */
  async function readList(): Promise<ListRead> {
    const list: ListRequest = { port: backend.apiPort, path: PATH, authorization: await bearer() };
    const file = fileURLToPath(new URL('list-worker.ts', import.meta.url));
    const reader = fork(file, [JSON.stringify(list)], { execArgv: ['--import', 'tsx'] });
    const [read] = (await once(reader, 'message')) as [ListRead];
    return read;
  }

  /**
   * Sends keepalives until `work` ends, and returns the longest time until one was decided: frames are read in order, so that the pong
   * comes after the decision.
   */
  async function slowestKeepaliveMs(work: Promise<unknown>): Promise<number> {
    let isDone = false;
    void work.finally(() => (isDone = true));
    let slowestMs = 0;
    for (let n = 0; !isDone; n += 1) {
      agent.send('keepalive', keepalive('web-01'));
      slowestMs = Math.max(slowestMs, await agent.ping(String(n), 30_000));
      await delay(KEEPALIVE_EVERY_MS);
    }
    return slowestMs;
  }

  it('delays no keepalive by more than 250 ms while a client reads it', async () => {
    // The delay of this process's own event loop is not the backend's, so it is added to the limit.
    const machine = monitorEventLoopDelay({ resolution: 1 });
    machine.enable();
    const reading = readList();
    const slowestMs = await slowestKeepaliveMs(reading);
    machine.disable();
    const { bytes, events } = await reading;
    expect(events).to.equal(EVENTS + 1);
    expect(bytes).to.be.above(LIST_BYTES);
    expect(slowestMs).to.be.below(LATE_MS + machine.max / 1_000_000);
  });

  it('is not buffered for clients that do not read it', async () => {
    const authorization = await bearer();
    const observed = new ObservedProcess(backend.pid);
    const beforeMb = observed.ownMemoryMb;
    const readers = Array.from({ length: STALLED_READERS }, () => connect(backend.apiPort, '127.0.0.1').pause());
    try {
      for (const reader of readers) {
        reader.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
      }
      await slowestKeepaliveMs(delay(3_000));
      expect(observed.ownMemoryMb - beforeMb).to.be.below(STALLED_READERS * STALLED_MB);
    } finally {
      for (const reader of readers) reader.destroy();
    }
  });
});
