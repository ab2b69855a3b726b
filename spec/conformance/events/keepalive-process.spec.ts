import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { LedgerEntry } from '../../../src/store/ledger/ledger.ts';
import { FREE_PORTS } from '../../agent/agent-process.ts';
import { AGENT } from '../../support/agent-client.ts';
import { BackendProcess, runProgram } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/mon-agent.js', import.meta.url));
const NAME = 'killed-01';
const WARNING_S = 5;
const CRITICAL_S = 8;
/** Ticks are exact, but the machine may be busy. */
const LATE_MS = 2_000;

describe('a real agent that is killed', () => {
  const agents: ChildProcess[] = [];
  after(async () => {
    for (const agent of agents) await kill(agent);
  });

  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());

  function startAgent(): ChildProcess {
    const flags = [
      ['--name', NAME],
      ['--backend-url', `ws://127.0.0.1:${backend.agentPort}`],
      ['--user', AGENT.username],
      ['--password', AGENT.password],
      ['--keepalive-interval', '2'],
      ['--keepalive-warning-timeout', String(WARNING_S)],
      ['--keepalive-critical-timeout', String(CRITICAL_S)],
      ['--cache-dir', join(directory.path, 'cache')],
    ];
    const agent = spawn(process.execPath, [PROGRAM, 'start', ...flags.flat()], {
      env: { ...process.env, ...FREE_PORTS },
      stdio: 'ignore',
    });
    agents.push(agent);
    return agent;
  }

  async function kill(agent: ChildProcess): Promise<void> {
    if (agent.exitCode !== null || agent.signalCode !== null) return;
    agent.kill('SIGKILL');
    await once(agent, 'exit');
  }

  const transitions = () => api.ledger({ actor: 'entity', key: `default/${NAME}` });

  const reaches = (count: number): Promise<LedgerEntry[]> =>
    eventually(transitions, (entries) => entries.length >= count, {
      what: `transition ${count} of the entity`,
      withinMs: 20_000,
      everyMs: 50,
    });

  it('is warning and critical at its timeouts, resolves when it is back, and has all transitions in the ledger', async function () {
    this.timeout(60_000);
    const agent = startAgent();
    await reaches(1);
    await kill(agent);
    await reaches(3);
    expect(at(await api.event(NAME, 'keepalive'), 'check')).to.deep.include({ status: 2, state: 'failing' });
    startAgent();
    const [registered, warning, critical, back] = await reaches(4);
    expect([registered, warning, critical, back].map((entry) => entry?.to)).to.deep.equal([
      'registered',
      'warning',
      'critical',
      'registered',
    ]);
    for (const entry of [warning, critical]) {
      const deadlineAtMs = Number(at(entry, 'cause', 'deadlineAtMs'));
      expect((entry?.atMs ?? 0) - deadlineAtMs).to.be.within(0, LATE_MS);
    }
    const apartMs = Number(at(critical, 'cause', 'deadlineAtMs')) - Number(at(warning, 'cause', 'deadlineAtMs'));
    expect(apartMs).to.equal((CRITICAL_S - WARNING_S) * 1_000);
    const check = at(await api.event(NAME, 'keepalive'), 'check');
    const statuses = (at(check, 'history') as { status: number }[]).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 0)).to.deep.equal([1, 2]);
    expect(check).to.deep.include({ status: 0 });
    expect(await runProgram(['ledger', 'verify', '--state-dir', backend.stateDir])).to.have.property('code', 0);
  });
});
