import { expect } from 'chai';
import { perTest } from '../../support/fixture.ts';
import { RestartableBackend } from '../../support/restartable-backend.ts';

const HOUR_MS = 3_600_000;
const HANDLER = 'archive';

describe('the handler of the ledger anchor', () => {
  const backend = perTest(() =>
    RestartableBackend.start({ configure: (config) => ({ ...config, ledgerAnchorHandler: HANDLER }) }),
  );
  const warnings = () =>
    backend.log.lines.filter(({ msg }) => msg.startsWith('the handler of the ledger anchor does not exist'));

  it('is named in a warning at the start and at each anchor until it exists', async () => {
    expect(warnings().map(({ level, fields }) => [level, fields['handler']])).to.deep.equal([['warn', HANDLER]]);
    await backend.clock.advance(HOUR_MS);
    expect(warnings()).to.have.length(2);

    const api = await backend.login();
    const handler = { metadata: { name: HANDLER, namespace: 'mon-system' }, type: 'pipe', command: 'cat > /dev/null' };
    const { status, text } = await api.put(`/ns/mon-system/handlers/${HANDLER}`, handler);
    expect(status, text).to.equal(201);
    await backend.clock.advance(HOUR_MS);
    expect(warnings()).to.have.length(2);
  });
});
