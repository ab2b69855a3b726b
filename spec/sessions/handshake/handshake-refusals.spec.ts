import { expect } from 'chai';
import { HandshakeRefusals } from '../../../src/sessions/handshake/handshake-refusals.ts';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const START_S = 1_700_000_000;
const BAD = { status: 401, message: 'bad credentials' };

describe('the record of refused handshakes', () => {
  let clock: ManualClock;
  let log: RecordedLog;
  let refusals: HandshakeRefusals;

  beforeEach(() => {
    clock = new ManualClock(START_S * 1_000);
    log = new RecordedLog();
    refusals = new HandshakeRefusals({ clock, log });
  });

  const note = (agent: string, refusal = BAD, address = '10.0.0.1'): void => {
    const authorization = basicHeader({ username: 'ann', password: 'h1dden' });
    const headers = { 'sensu-agentname': agent, 'sensu-namespace': 'default', authorization };
    refusals.record(address, headers, refusal);
  };

  it('contains who was refused, when, how often and why, but no password', async () => {
    note('web');
    await clock.advance(60_000);
    note('web');
    const who = { address: '10.0.0.1', namespace: 'default', agent: 'web', user: 'ann' };
    const why = { status: 401, reason: 'bad credentials' };
    const when = { first_at: START_S, last_at: START_S + 60, count: 2 };
    expect(refusals.list()).to.deep.equal([{ ...who, ...why, ...when }]);
    expect(JSON.stringify([refusals.list(), log.lines])).to.not.include('h1dden');
  });

  it('logs a warning for the first refusal only', () => {
    for (let n = 0; n < 3; n += 1) note('web');
    note('db');
    const warnings = log.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ msg, fields }) => [msg, fields['agent']])).to.deep.equal([
      ['agent refused', 'web'],
      ['agent refused', 'db'],
    ]);
  });

  it('logs at most thirty warnings of an address in a minute, and has all refusals', async () => {
    const warnings = (): number => log.lines.filter(({ level }) => level === 'warn').length;
    for (let n = 0; n < 100; n += 1) note(`agent-${n}`);
    note('other', BAD, '10.0.0.2');
    expect([warnings(), refusals.list().length]).to.deep.equal([31, 101]);
    await clock.advance(60_000);
    note('later');
    expect(warnings()).to.equal(32);
  });

  it('distinguishes refusals by address, status and reason, newest first', () => {
    note('web');
    note('web', BAD, '10.0.0.2');
    note('web', { status: 400, message: 'Bad Request\nWebSocket version must be 13' });
    note('web');
    expect(refusals.list().map(({ address, reason, count }) => [address, reason, count])).to.deep.equal([
      ['10.0.0.1', 'bad credentials', 2],
      ['10.0.0.1', 'Bad Request: WebSocket version must be 13', 1],
      ['10.0.0.2', 'bad credentials', 1],
    ]);
  });

  it('is bounded and evicts the refusal repeated longest ago', () => {
    for (let n = 0; n < 1_001; n += 1) {
      note(`agent-${n}`);
      note('steady');
    }
    const agents = refusals.list().map(({ agent }) => agent);
    expect(agents).to.have.lengthOf(1_000);
    expect(agents.slice(0, 2)).to.deep.equal(['steady', 'agent-1000']);
    expect(agents).to.not.include('agent-0');
  });

  it('contains no control characters and no text of unbounded length', () => {
    note(`\u001b[31mweb\n\u0085\u202e${'x'.repeat(10_000)}`);
    const agent = refusals.list()[0]?.agent ?? '';
    expect(agent).to.match(/^\\u\{1b\}\[31mweb\\u\{a\}\\u\{85\}\\u\{202e\}x+\.\.\.$/);
    expect(agent.length).to.be.below(250);
    expect(log.lines[0]?.fields['agent']).to.equal(agent);
  });

  it('has empty names for bytes that are not a request', () => {
    refusals.record('10.0.0.9', {}, { status: 400, message: 'not an HTTP request' });
    expect(refusals.list()[0]).to.include({ address: '10.0.0.9', namespace: '', agent: '', user: '', count: 1 });
  });
});
