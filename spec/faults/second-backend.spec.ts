import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BackendProcess, type ProgramRun, runProgram } from '../support/backend-process.ts';
import { pidNamespace } from '../support/contender.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';

const REFUSED_WITHIN_MS = 2_000;
/** Other programs may delay a start: the fastest counts. */
const MAX_ATTEMPTS = 5;

/** Starts a second backend until a start is refused in time. */
async function refusal(args: readonly string[], prefix: readonly string[] = []): Promise<ProgramRun> {
  for (let attempt = 1; ; attempt += 1) {
    const beganMs = performance.now();
    const run = await runProgram(['start', ...args], { prefix });
    if (performance.now() - beganMs < REFUSED_WITHIN_MS) return run;
    expect(attempt, 'attempts that took longer than 2 s').to.be.below(MAX_ATTEMPTS);
  }
}

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
    const { code, stderr } = await refusal(['--state-dir', backend.stateDir, ...listeners], prefix);
    expect(code).to.equal(1);
    expect(stderr).to.include(`store is in use by process ${backend.pid}`);
    expect(await put('after')).to.have.property('status', 200);
    expect(await api.event('sw-1', 'before')).to.not.equal(undefined);
  }

  it('refuses to start within two seconds and names the first one, which keeps working', () => expectRefusal());

  it('refuses to start from another pid namespace, where the machine allows one', () => expectRefusal(pidNamespace()));

  it('refuses to start after the lock file was removed', async () => {
    rmSync(join(backend.stateDir, 'store', 'lock'));
    const { code, stderr } = await refusal(['--state-dir', backend.stateDir]);
    expect(code).to.equal(1);
    expect(stderr).to.include('store is in use by another process');
    expect(await put('after')).to.have.property('status', 200);
  });
});
