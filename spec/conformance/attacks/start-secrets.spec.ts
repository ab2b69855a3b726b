import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { AgentProcess } from '../../agent/agent-process.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { proxyEvent } from '../../support/example-events.ts';
import { perSuite } from '../../support/fixture.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SECRET = 'hunter2-of-the-start';
const SECRETS = {
  MON_BACKEND_CLUSTER_ADMIN_PASSWORD: SECRET,
  MON_BACKEND_CLUSTER_ADMIN_API_KEY: SECRET,
  MON_PASSWORD: SECRET,
};

/** Prints what /proc shows of the shell's own process and of all its ancestors that it may read, one entry a line. */
const READ_ANCESTORS = `
p=$$
while [ "\${p:-0}" -gt 0 ]; do
  echo "process $p"
  cat /proc/$p/environ /proc/$p/cmdline
  p=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$p/status)
done 2>/dev/null | tr '\\0' '\\n'`;

/** What /proc shows of a process: its environment and its command line. */
const shownOf = (pid: number): string =>
  ['environ', 'cmdline'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')).join('\0');

describe('A17: a secret that a program was started with', () => {
  describe('in the environment of the backend', () => {
    const directory = perSuite(temporaryDirectory, (made) => made.remove());
    const backend = perSuite(() => BackendProcess.start({ environment: { ...SECRETS, DECLARED: 'yes' } }));
    const api = perSuite<ApiClient>(() => backend.login());

    it('is found by no handler, in its own environment or in /proc of its ancestors', async () => {
      const output = join(directory.path, 'found');
      const command = `(${READ_ANCESTORS}) > '${output}.part'; mv '${output}.part' '${output}'`;
      const metadata = { name: 'reader', namespace: 'default' };
      await api.post('/ns/default/handlers', { metadata, type: 'pipe', command });
      await api.put('/ns/default/events/p1/c', proxyEvent('p1', 'c', { status: 2, handlers: ['reader'] }));
      const text = await eventually(() => readFile(output, 'utf8').catch(() => ''));
      expect(text).to.match(new RegExp(`^process ${backend.pid}$`, 'm'));
      expect(text.match(/^DECLARED=yes$/gm), 'the rest of the environment stays').to.have.length.above(1);
      expect(text).to.not.include(SECRET);
    });
  });

  describe('as a secret of the provider env', () => {
    const directory = perSuite(temporaryDirectory, (made) => made.remove());
    const environment = { MON_SECRET_PAGER: SECRET, PAGER_KEY: SECRET, PAGER: 'shown', DECLARED: 'yes' };
    const allowed = { MON_BACKEND_SECRETS_ENV_ALLOW: 'MON_SECRET_*,PAGER_KEY' };
    const backend = perSuite(() => BackendProcess.start({ environment: { ...environment, ...allowed } }));
    const api = perSuite<ApiClient>(() => backend.login());

    it('is found by no handler that does not name it, and in /proc of none of its ancestors', async () => {
      const output = join(directory.path, 'found');
      const command = `(${READ_ANCESTORS}; env) > '${output}.part'; mv '${output}.part' '${output}'`;
      const metadata = { name: 'reader', namespace: 'default' };
      await api.post('/ns/default/handlers', { metadata, type: 'pipe', command });
      await api.put('/ns/default/events/p1/c', proxyEvent('p1', 'c', { status: 2, handlers: ['reader'] }));
      const text = await eventually(() => readFile(output, 'utf8').catch(() => ''));
      expect(text)
        .to.match(/^DECLARED=yes$/m)
        .and.match(/^PAGER=shown$/m);
      expect(text).to.match(/^MON_SECRET_PAGER=\*+$/m, 'the memory of the backend is masked');
      expect(text).to.not.include(SECRET);
    });

    it('is found by the backend for a check that names it', async () => {
      const name = 'pager';
      const body = { metadata: { name, namespace: 'default' }, spec: { id: 'PAGER_KEY', provider: 'env' } };
      const home = '/api/enterprise/secrets/v1/namespaces/default/secrets';
      expect((await api.put(`${home}/${name}`, body)).status).to.equal(201);
      const check = { metadata: { name: 'c', namespace: 'default' }, command: 'x', interval: 60, subscriptions: ['s'] };
      await api.put('/ns/default/checks/c', { ...check, secrets: [{ name: 'KEY', secret: name }] });
      expect((await api.post('/ns/default/checks/c/execute', {})).status).to.equal(202);
    });
  });

  it('is not shown in /proc of the agent, from its environment or its command line', async () => {
    const flags = ['--password', SECRET, `--password=${SECRET}`, '--name', 'tester'];
    const agent = new AgentProcess(['start', '--backend-url', 'ws://127.0.0.1:9', ...flags], SECRETS);
    try {
      await eventually(() => agent.stderr.includes('secret on the command line'));
      expect(shownOf(agent.child.pid ?? 0)).to.not.include(SECRET);
      expect(shownOf(agent.child.pid ?? 0))
        .to.include('tester')
        .and.include('MON_CACHE_DIR=');
    } finally {
      await agent.kill();
    }
  });
});
