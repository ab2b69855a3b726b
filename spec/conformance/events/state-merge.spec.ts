import { expect } from 'chai';
import { perSuite } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ReportingAgent } from '../../support/reporting-agent.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

describe('the stored event of a check', () => {
  const backend = perSuite(() => RestartableBackend.start());
  const api = perSuite(() => backend.login());
  const agent = perSuite(() => ReportingAgent.connect(backend, 'merge'));

  const checkOf = async (check: string) => at(await api.event('merge', check), 'check');

  /** Sends results one by one and collects members of the stored check after each. */
  async function valuesAfter(
    check: string,
    statuses: readonly number[],
    member: string,
    result = {},
  ): Promise<unknown[]> {
    const values: unknown[] = [];
    for (const status of statuses) {
      await agent.result(check, { status, ...result });
      values.push(at(await checkOf(check), member));
    }
    return values;
  }

  const digits = (text: string): number[] => Array.from(text, Number);

  it('case 37: is failing after a first result that fails', async () => {
    await agent.result('first-bad', { status: 1 });
    const check = await checkOf('first-bad');
    expect(check).to.deep.include({ state: 'failing', occurrences: 1, occurrences_watermark: 1, last_ok: 0 });
    expect(at(check, 'history')).to.deep.equal([{ status: 1, executed: backend.nowS }]);
  });

  it('case 37: is passing after a first result that passes, which is its last success', async () => {
    await agent.result('first-ok', { status: 0, executed: 1_234_567 });
    expect(await checkOf('first-ok')).to.deep.include({ state: 'passing', occurrences: 1, last_ok: 1_234_567 });
  });

  it('case 38: counts occurrences and their watermark', async () => {
    const statuses = [0, 0, 1, 1, 1, 2, 2, 2, 2, 0, 2];
    expect(await valuesAfter('count', statuses, 'occurrences')).to.deep.equal([1, 2, 1, 2, 3, 1, 2, 3, 4, 1, 1]);
    expect(await valuesAfter('mark', statuses, 'occurrences_watermark')).to.deep.equal([
      1, 2, 1, 2, 3, 3, 3, 3, 4, 4, 1,
    ]);
  });

  it('case 39: keeps the last 21 of 22 results', async () => {
    for (let executed = 1; executed <= 22; executed += 1) await agent.result('long', { executed });
    const history = at(await checkOf('long'), 'history') as { executed: number }[];
    expect(history.map(({ executed }) => executed)).to.deep.equal(Array.from({ length: 21 }, (_, index) => index + 2));
  });

  it('case 40: is flapping after 21 alternating results, and has no total state change after 20', async () => {
    const thresholds = { low_flap_threshold: 20, high_flap_threshold: 60 };
    const statuses = digits('010101010101010101010');
    await valuesAfter('flap', statuses.slice(0, 20), 'state', thresholds);
    expect(await checkOf('flap')).to.deep.include({ total_state_change: 0, state: 'failing' });
    await valuesAfter('flap', statuses.slice(20), 'state', thresholds);
    expect(await checkOf('flap')).to.deep.include({ total_state_change: 98, state: 'flapping' });
  });

  it('case 41: is never flapping with a threshold of 0', async () => {
    const statuses = digits('010101010101010101010');
    for (const [check, thresholds] of [
      ['flap-low-0', { low_flap_threshold: 0, high_flap_threshold: 60 }],
      ['flap-high-0', { low_flap_threshold: 20, high_flap_threshold: 0 }],
    ] as const) {
      expect(await valuesAfter(check, statuses, 'state', thresholds)).to.not.include('flapping');
      expect(at(await checkOf(check), 'total_state_change')).to.equal(98);
    }
  });

  it('case 41: is flapping between the thresholds until the low one is reached, as the ledger shows', async () => {
    const thresholds = { low_flap_threshold: 20, high_flap_threshold: 60 };
    await valuesAfter('flap-leave', digits('010101010101010101010'), 'state', thresholds);
    const calm = digits('0'.repeat(20));
    const seen: { state: unknown; change: unknown }[] = [];
    for (const status of calm) {
      await agent.result('flap-leave', { status, ...thresholds });
      const check = await checkOf('flap-leave');
      seen.push({ state: at(check, 'state'), change: at(check, 'total_state_change') });
    }
    for (const { state, change } of seen) expect(state).to.equal(Number(change) > 20 ? 'flapping' : 'passing');
    expect(seen.some(({ state, change }) => state === 'flapping' && Number(change) < 60)).to.equal(true);
    const entries = await api.ledger({ actor: 'check-state', key: 'default/merge/flap-leave' });
    const [began, left] = entries.slice(-2);
    expect([began?.to, left?.from, left?.to]).to.deep.equal(['flapping', 'flapping', 'passing']);
    expect(began?.guards).to.deep.equal([
      { name: 'flapping', passed: true, inputs: { totalStateChange: 98, low: 20, high: 60 } },
    ]);
    expect(left?.guards[0]).to.deep.include({ name: 'flapping', passed: false });
    expect(at(left, 'guards', 0, 'inputs', 'totalStateChange')).to.be.at.most(20);
  });

  it('case 43: is stored without its metrics', async () => {
    const points = [{ name: 'cpu', value: 1, timestamp: backend.nowS, tags: [] }];
    await agent.result('measured', { status: 1 }, { metrics: { handlers: [], points } });
    const event = await api.event('merge', 'measured');
    expect(event).to.have.nested.property('check.status', 1);
    expect(event).to.not.have.property('metrics');
  });

  it('case 46: has its output cut to the limit, and a label with the omitted size', async () => {
    await agent.result('long-output', { output: 'VERYLONG!', max_output_size: 4 });
    const event = await api.event('merge', 'long-output');
    expect(at(event, 'check', 'output')).to.equal('VERY');
    expect(at(event, 'metadata', 'labels', 'sensu.io/output_truncated_bytes')).to.equal('5');
  });

  it('case 48: is computed by the backend, whatever the client sends', async () => {
    await agent.result('told', { status: 1 });
    await agent.result('told', {
      status: 1,
      occurrences: 99,
      occurrences_watermark: 99,
      history: [],
      state: 'passing',
    });
    expect(await checkOf('told')).to.deep.include({ occurrences: 2, occurrences_watermark: 2, state: 'failing' });
    expect(at(await checkOf('told'), 'history')).to.have.lengthOf(2);
  });
});
