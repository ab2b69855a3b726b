import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BackendProcess, runProgram } from '../support/backend-process.ts';
import { pidNamespace } from '../support/contender.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';

const REFUSED_WITHIN_MS = 2_000;

describe('F26: a second backend on the same state directory', () => {
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());

  const put = (check: string) => api.put(`/ns/default/events/sw-1/${check}`, proxyEvent('sw-1', check));

  async function expectRefusal(prefix: readonly string[] = []): Promise<void> {
    expect(await put('before')).to.have.property('status', 200);
    const listeners = [
      '--api-listen-address=127.0.0.1:0',
      '--agent-host=127.0.0.1',
      '--agent-port=0',
      '--legacy-api-listen-address=',
      '--dashboard-port=0',
    ];
    const args = ['start', '--state-dir', backend.stateDir, ...listeners];
    const { code, stderr } = await runProgram(args, { withinMs: REFUSED_WITHIN_MS, prefix });
    expect(code).to.equal(1);
    expect(stderr).to.include(`store is in use by process ${backend.pid}`);
    expect(await put('after')).to.have.property('status', 200);
    expect(await api.event('sw-1', 'before')).to.not.equal(undefined);
  }

  it('refuses to start within two seconds and names the first one, which keeps working', () => expectRefusal());

  it('refuses to start from another pid namespace, where the machine allows one', () => expectRefusal(pidNamespace()));

  it('refuses to start after the lock file was removed', async () => {
    rmSync(join(backend.stateDir, 'store', 'lock'));
    const { code, stderr } = await runProgram(['start', '--state-dir', backend.stateDir], {
      withinMs: REFUSED_WITHIN_MS,
    });
    expect(code).to.equal(1);
    expect(stderr).to.include('store is in use by another process');
    expect(await put('after')).to.have.property('status', 200);
  });
});
