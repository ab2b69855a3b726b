import { chownSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { warnOfNotifications, warnOfOtherOwner, warnOfRootCommands } from '../../../src/main/process/privileges.ts';
import { ADMIN } from '../../support/api-client.ts';
import { BackendProcess, runProgram } from '../../support/backend-process.ts';
import { perTest } from '../../support/fixture.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const AS_ROOT = 'commands of handlers and mutators run as root';
const OTHER_OWNER = 'the state directory belongs to another user';

describe('a warning about privileges', function () {
  this.timeout(60_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const log = perTest(() => new RecordedLog());

  it('is logged when root runs the commands of handlers, and not with --command-user or as another user', () => {
    warnOfRootCommands('nobody', log, 0);
    warnOfRootCommands(undefined, log, 1_000);
    expect(log.lines).to.deep.equal([]);
    warnOfRootCommands(undefined, log, 0);
    expect(log.lines.map(({ level, msg, fields }) => [level, msg, fields['flag']])).to.deep.equal([
      ['warn', AS_ROOT, 'command-user'],
    ]);
  });

  it('is logged when commands of another user can reach systemd', () => {
    warnOfNotifications(undefined, log, '/run/systemd/notify');
    warnOfNotifications('nobody', log, undefined);
    expect(log.lines).to.deep.equal([]);
    warnOfNotifications('nobody', log, '/run/systemd/notify');
    expect(log.lines.map(({ level, fields }) => [level, fields['advice']])).to.deep.equal([
      ['warn', 'set Type=exec and NotifyAccess=none in the unit'],
    ]);
  });

  it('names the owner of a state directory of another user, and the user to run as', () => {
    const owner = statSync(directory.path).uid;
    warnOfOtherOwner(directory.path, log, owner);
    warnOfOtherOwner(join(directory.path, 'none'), log, owner + 1);
    expect(log.lines).to.deep.equal([]);
    warnOfOtherOwner(directory.path, log, owner + 1);
    expect(log.lines[0]?.msg).to.equal(OTHER_OWNER);
    expect(log.lines[0]?.fields).to.deep.include({ path: directory.path, owner, user: owner + 1 });
    expect(log.lines[0]?.fields['advice']).to.equal(`run this command as user ${owner}`);
  });

  if (isRoot) {
    const warningsIn = (lines: readonly unknown[]): unknown[] =>
      lines.map((line) => (line as { msg?: string }).msg).filter((msg) => msg === AS_ROOT || msg === OTHER_OWNER);

    it('is logged by init and start of the program', async () => {
      const stateDir = join(directory.path, 'state');
      mkdirSync(stateDir, { mode: 0o700 });
      chownSync(stateDir, NOBODY, NOBODY);
      const administrator = [
        `--cluster-admin-username=${ADMIN.username}`,
        `--cluster-admin-password=${ADMIN.password}`,
      ];
      const init = await runProgram(['init', '--state-dir', stateDir, ...administrator]);
      expect(init.code, init.stderr).to.equal(0);
      expect(init.stderr).to.contain(OTHER_OWNER);
      const backend = await BackendProcess.start({ stateDir });
      await backend.stop();
      expect(warningsIn(backend.logs)).to.deep.equal([AS_ROOT, OTHER_OWNER]);
    });

    it('is not logged by a backend that runs commands as another user, in a directory of its own', async () => {
      const backend = await BackendProcess.start({ args: ['--command-user', 'nobody'] });
      await backend.stop();
      expect(warningsIn(backend.logs)).to.deep.equal([]);
    });
  }
});
