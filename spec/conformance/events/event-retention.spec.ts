import { expect } from 'chai';
import { eventKey } from '../../../src/store/encoding/keyspace.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const DAY_MS = 86_400_000;
const RETENTION_MS = 30 * DAY_MS;
const ROUND_MS = 10_000;

describe('an event', () => {
  const backend = perTest(() =>
    RestartableBackend.start({ configure: (config) => ({ ...config, eventRetentionMs: RETENTION_MS }) }),
  );
  let api: ApiClient;

  beforeEach(async () => {
    api = await backend.login();
  });

  const isStored = (check: string): boolean =>
    backend.store.get('events', eventKey('default', 'job', check)) !== undefined;

  const put = (check: string, changes: Parameters<typeof proxyEvent>[2] = {}) =>
    api.put(
      `/ns/default/events/job/${check}`,
      proxyEvent('job', check, { executed: Math.floor(backend.clock.nowMs() / 1_000), ...changes }),
    );

  it('that passes and has no TTL is deleted when its check was silent for the retention, which the ledger says', async () => {
    await put('run-1');
    await backend.downFor(RETENTION_MS - DAY_MS);
    await backend.clock.advance(ROUND_MS);
    expect(isStored('run-1')).to.equal(true);
    await backend.downFor(2 * DAY_MS);
    await eventually(async () => {
      await backend.clock.advance(ROUND_MS);
      return !isStored('run-1');
    });
    api = await backend.login();
    const entries = await api.ledger({ actor: 'check-state', key: 'default/job/run-1' });
    expect(entries.at(-1)).to.deep.include({ event: 'event.deleted', cause: { backend: 'retention.due' } });
  });

  it('that fails, is silenced or reports again is kept', async () => {
    await put('failing', { status: 2 });
    await api.post('/ns/default/silenced', { metadata: { namespace: 'default' }, check: 'silenced' });
    await put('silenced');
    await put('gone');
    await backend.downFor(RETENTION_MS + DAY_MS);
    api = await backend.login();
    await put('new');
    await put('timeless', { executed: 0 });
    await eventually(async () => {
      await backend.clock.advance(ROUND_MS);
      return !isStored('gone');
    });
    for (const check of ['failing', 'silenced', 'new', 'timeless']) expect(isStored(check), check).to.equal(true);
  });
});
