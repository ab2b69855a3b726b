import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ApiClient } from '../support/api-client.ts';
import { BackendProcess } from '../support/backend-process.ts';
import { eventually } from '../support/eventually.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';

const GIGABYTE = 1_000_000_000;
/** What one handler's output may add to the memory of the backend, with the copies of what it keeps of it. */
const MAX_GROWTH_BYTES = 200 * 1024 * 1024;
const WITHIN_MS = 60_000;

describe('F19: a handler that hangs, is killed or prints a gigabyte', function () {
  this.timeout(120_000);
  const backend = perSuite(() => BackendProcess.start());
  let api: ApiClient;

  before(async () => {
    api = await backend.login();
    await handler('hangs', { command: 'sleep 600', timeout: 1 });
    await handler('killed', { command: 'exit 137' });
    await handler('loud', { command: `head -c ${GIGABYTE} /dev/zero`, timeout: 60 });
    await handler('retried', { command: 'exit 137' }, { 'mon.io/retry-for': '3s' });
    await handler('next', { command: 'cat > /dev/null' });
  });

  async function handler(name: string, changes: object, annotations: Record<string, string> = {}): Promise<void> {
    const metadata = { name, namespace: 'default', annotations };
    const { status, text } = await api.put(`/ns/default/handlers/${name}`, { metadata, type: 'pipe', ...changes });
    expect(status, text).to.equal(201);
  }

  async function put(check: string, handlers: string[]): Promise<void> {
    const event = proxyEvent('sw-1', check, { status: 2, handlers });
    const { status, text } = await api.put(`/ns/default/events/sw-1/${check}`, event);
    expect(status, text).to.equal(200);
  }

  async function outcomes(check: string, count: number): Promise<Map<unknown, object>> {
    const path = `/api/mon/v1/namespaces/default/events/sw-1/${check}/notifications`;
    const { json } = await eventually(
      () => api.get(path),
      (answer) => (answer.json as object[]).length >= count,
      { what: `${count} outcomes of ${check}`, withinMs: WITHIN_MS },
    );
    return new Map((json as object[]).map((one) => [at(one, 'handler'), one]));
  }

  const residentBytes = (): number =>
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${backend.pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

  for (const [name, outcome, status, reason] of [
    ['hangs', 'timed-out', 2, /^Execution timed out/],
    ['killed', 'failed', 137, /^$/],
  ] as const) {
    it(`that ${name} does not affect the next, and its event becomes a dead letter`, async () => {
      await put(name, [name, 'next']);
      const recorded = await outcomes(name, 2);
      expect(recorded.get(name)).to.include({ outcome, status, dead_letter: true });
      expect(at(recorded.get(name), 'reason')).to.match(reason);
      expect(recorded.get('next')).to.include({ outcome: 'handled', dead_letter: false });
    });
  }

  it('that prints a gigabyte costs the backend a bounded memory, and does not affect the next', async () => {
    const before = residentBytes();
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, residentBytes())), 50);
    await put('loud', ['loud', 'next']);
    const recorded = await outcomes('loud', 2);
    clearInterval(watch);
    expect(recorded.get('next')).to.include({ outcome: 'handled' });
    expect(String(at(recorded.get('loud'), 'reason')).length).to.be.at.most(1_000);
    expect(peak - before).to.be.at.most(MAX_GROWTH_BYTES);
  });

  it('is tried again where it says so, and then its event becomes a dead letter', async () => {
    await put('retried', ['next', 'retried']);
    const recorded = await outcomes('retried', 2);
    expect(recorded.get('retried')).to.include({ outcome: 'failed', dead_letter: true });
    expect(at(recorded.get('retried'), 'attempts')).to.be.within(2, 4);
    expect(at(recorded.get('retried'), 'reason')).to.match(/^(?:not handled within 3 s: )?$/);
  });
});
