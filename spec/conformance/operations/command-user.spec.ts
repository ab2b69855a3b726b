import { join } from 'node:path';
import { expect } from 'chai';
import { BackendProcess, runProgram } from '../../support/backend-process.ts';
import { perSuite, perTest } from '../../support/fixture.ts';
import { ADMIN } from '../../support/api-client.ts';
import { PipelineUser } from '../../support/pipeline-user.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = '65534';

describe('--command-user', function () {
  this.timeout(60_000);

  if (isRoot) {
    describe('of a backend that runs as root', () => {
      const directory = perSuite(temporaryDirectory, (made) => made.remove());
      const backend = perSuite(() => BackendProcess.start({ args: ['--command-user', 'nobody'] }));
      const api = perSuite(() => backend.login());
      const user = perSuite(() => new PipelineUser(api, directory.path));

      /** What the command of a handler prints. */
      async function printed(command: string): Promise<string> {
        const name = `h${command.length}`;
        await user.handler(name, { command: `cat > /dev/null; { ${command}; } 2>&1; exit 1` });
        await user.event(name, { handlers: [name] });
        const [outcome] = await user.outcomes(name, 1);
        return String(outcome?.reason);
      }

      it('runs commands of handlers as that user, without the groups of the backend', async () => {
        expect(await printed('id -u; id -G; echo $USER $HOME')).to.match(
          new RegExp(`^${NOBODY}\\n${NOBODY}\\nnobody /nonexistent`),
        );
      });

      it('keeps the store, the memory and the environment of the backend from them', async () => {
        const { pid, stateDir } = backend;
        for (const file of [join(stateDir, 'store/data.mdb'), `/proc/${pid}/environ`, `/proc/${pid}/mem`]) {
          expect(await printed(`head -c 1 ${file}`), file).to.match(/Permission denied/);
        }
      });

      it('gives them no open file of the store', async () => {
        expect(await printed('ls -l /proc/$$/fd; echo these are listed'))
          .to.contain('these are listed')
          .and.not.contain(backend.stateDir);
      });

      it('keeps them from ending the backend', async () => {
        expect(await printed(`kill -9 ${backend.pid}`)).to.match(/not permitted/i);
        expect((await api.get('/health')).status).to.equal(200);
      });

      it('ends their processes at a timeout, as those of its own user', async () => {
        await user.handler('slow', { command: 'cat > /dev/null; sleep 60 & sleep 60', timeout: 1 });
        await user.event('slow', { handlers: ['slow'] });
        expect((await user.outcomes('slow', 1))[0]).to.include({ outcome: 'timed-out' });
      });
    });

    for (const [what, name, rule] of [
      ['that does not exist', 'mon-no-such-user', 'there is no user mon-no-such-user'],
      ['that is root', 'root', 'root must not be root'],
      ['with a name that is none', '-x', 'there is no user -x'],
    ] as const) {
      it(`ends the start with a user ${what}`, async () => {
        const directory = await temporaryDirectory();
        const { code, stderr } = await runProgram(['start', '-d', join(directory.path, 's'), `--command-user=${name}`]);
        await directory.remove();
        expect(stderr).to.contain(`command-user: ${rule}`);
        expect(code).to.equal(1);
      });
    }
  } else {
    it('ends the start of a backend that does not run as root', async () => {
      const directory = await temporaryDirectory();
      const { stderr } = await runProgram(['start', '-d', join(directory.path, 's'), '--command-user=nobody']);
      await directory.remove();
      expect(stderr).to.contain('command-user: the backend must run as root');
    });
  }
});

describe('mon-backend init --restrict-edit', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  it('creates the role edit without the right to change handlers and mutators, which it may read', async () => {
    const stateDir = join(directory.path, 'state');
    const admin = ['--cluster-admin-username', ADMIN.username, '--cluster-admin-password', ADMIN.password];
    expect((await runProgram(['init', '-d', stateDir, ...admin, '--restrict-edit'])).code).to.equal(0);
    const backend = await BackendProcess.start({ stateDir });
    try {
      const api = await backend.login();
      const { json } = await api.get('/api/core/v2/clusterroles/edit');
      const { rules } = json as { rules: { verbs: string[]; resources: string[] }[] };
      const mayChange = rules.find(({ verbs }) => verbs.includes('*'))?.resources;
      expect(mayChange).to.include.members(['checks', 'silenced', 'pipelines']);
      expect(mayChange).not.to.include.members(['handlers']);
      expect(mayChange).not.to.include.members(['mutators']);
      expect(rules.at(-1)).to.deep.include({
        verbs: ['get', 'list'],
        resources: ['handlers', 'mutators', 'namespaces'],
      });
    } finally {
      await backend.stop();
    }
  });
});
