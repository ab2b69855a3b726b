import { expect } from 'chai';
import { BackendProcess, runProgram } from '../support/backend-process.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perSuite } from '../support/fixture.ts';

const REFUSED_WITHIN_MS = 2_000;

describe('F26: a second backend on the same state directory', () => {
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());

  const put = (check: string) => api.put(`/ns/default/events/sw-1/${check}`, proxyEvent('sw-1', check));

  it('refuses to start within two seconds and names the first one, which keeps working', async () => {
    expect(await put('before')).to.have.property('status', 200);
    const listeners = ['--api-listen-address=127.0.0.1:0', '--agent-host=127.0.0.1', '--agent-port=0'];
    const { code, stderr } = await runProgram(
      ['start', '--state-dir', backend.stateDir, ...listeners],
      REFUSED_WITHIN_MS,
    );
    expect(code).to.equal(1);
    expect(stderr).to.include(`store is in use by process ${backend.pid}`);
    expect(await put('after')).to.have.property('status', 200);
    expect(await api.event('sw-1', 'before')).to.not.equal(undefined);
  });
});
