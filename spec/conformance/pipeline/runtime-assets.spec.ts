import { expect } from 'chai';
import { tarGzArchive, toolAsset } from '../../assets/archive-builder.ts';
import { AssetServer } from '../../assets/asset-server.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

const LIBRARY = tarGzArchive([
  { path: 'lib/answer.js', content: 'function isWanted(event) { return event.check.status === 1; }' },
]);
const MACHINE = { os: 'linux', arch: 'amd64' };

describe('runtime assets', () => {
  const server = perSuite(() => AssetServer.start());
  const backend = perSuite(() => InProcessBackend.start({ machine: MACHINE as never }));
  const api = perSuite(() => backend.login());

  async function put(kind: string, name: string, body: object): Promise<void> {
    const metadata = { name, namespace: 'default' };
    const { status, text } = await api.put(`/ns/default/${kind}/${encodeURIComponent(name)}`, { metadata, ...body });
    expect(status, text).to.equal(201);
  }

  /** Writes an asset with this archive, or without one. */
  async function asset(name: string, archive: Buffer | undefined, filters: string[] = []): Promise<void> {
    const { url, sha512 } = server.asset(name, archive ?? toolAsset('gone'));
    if (archive === undefined)
      server.serve(new URL(url ?? '').pathname, (_request, response) => response.writeHead(410).end());
    await put('assets', name, { url, sha512, filters });
  }

  /** Sends an incident to the handler, and returns the outcome. */
  async function outcomeOf(handler: string, status = 1): Promise<{ outcome: unknown; reason: unknown }> {
    const check = `for-${handler}-${status}`;
    const event = proxyEvent('switch-1', check, { status, handlers: [handler] });
    expect(await api.put(`/ns/default/events/switch-1/${check}`, event)).to.have.property('status', 200);
    const path = `/api/mon/v1/namespaces/default/events/switch-1/${check}/notifications`;
    const found = await eventually(
      async () => (await api.get(path)).json as unknown[],
      (list) => list.length > 0,
      { what: 'an outcome' },
    );
    return { outcome: at(found[0], 'outcome'), reason: at(found[0], 'reason') };
  }

  it('of a handler put their tools into its path', async () => {
    await asset('acme/tool', toolAsset(), ["entity.system.os === 'linux'"]);
    await put('handlers', 'with-tool', {
      type: 'pipe',
      command: 'cat > /dev/null; tool.sh there',
      runtime_assets: ['acme/tool'],
    });
    expect(await outcomeOf('with-tool')).to.deep.equal({ outcome: 'handled', reason: 'good there\n' });
  });

  it('that are not for the machine of the backend are left out', async () => {
    await asset('other', toolAsset(), ["entity.system.os === 'windows'"]);
    await put('handlers', 'elsewhere', {
      type: 'pipe',
      command: 'cat > /dev/null; tool.sh',
      runtime_assets: ['other'],
    });
    const { outcome, reason } = await outcomeOf('elsewhere');
    expect(outcome).to.equal('failed');
    expect(reason).to.match(/tool\.sh: .*not found/);
  });

  it('that cannot be fetched let the handler fail, with the reason', async () => {
    await asset('gone', undefined);
    await put('handlers', 'without', { type: 'pipe', command: 'touch /tmp/never', runtime_assets: ['gone'] });
    expect(await outcomeOf('without')).to.deep.equal({
      outcome: 'failed',
      reason: 'handler "without": asset "gone": error fetching asset: Response Code 410',
    });
  });

  it('of a filter define its functions', async () => {
    await asset('library', LIBRARY);
    const filter = { action: 'allow', expressions: ['isWanted(event)'], runtime_assets: ['library'] };
    await put('filters', 'wanted', filter);
    await put('handlers', 'filtered', { type: 'pipe', command: 'cat > /dev/null', filters: ['wanted'] });
    expect((await outcomeOf('filtered')).outcome).to.equal('handled');
    expect(await outcomeOf('filtered', 2)).to.deep.equal({
      outcome: 'denied',
      reason: 'wanted: isWanted(event) was false',
    });
  });

  it('of a JavaScript mutator define its functions, and end the run by their true name when they are missing', async () => {
    const library = tarGzArchive([{ path: 'lib/shout.js', content: 'function shout(text) { return text + "!"; }' }]);
    await asset('shouting', library);
    for (const [name, asset] of [
      ['loud', 'shouting'],
      ['mute', 'not-there'],
    ] as const) {
      await put('mutators', name, { type: 'javascript', eval: 'return shout("late")', runtime_assets: [asset] });
      await put('handlers', name, { type: 'pipe', command: 'cat', mutator: name });
    }
    expect(await outcomeOf('loud')).to.deep.equal({ outcome: 'handled', reason: 'late!' });
    expect(await outcomeOf('mute')).to.deep.equal({
      outcome: 'skipped',
      reason: 'asset "not-there" of mutator "mute" does not exist',
    });
  });
});
