import { expect } from 'chai';
import { parseBackendConfig } from '../../../src/config/backend.ts';
import { createLogger } from '../../../src/main/log/logger.ts';
import { anchorLedger } from '../../../src/main/serve/anchor-ledger.ts';
import { StoreUnavailable } from '../../../src/resources/errors.ts';
import { sources } from '../../config/sources.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

const HOUR_MS = 3_600_000;

/** A ledger whose head a test sets, and the handlers that received an anchor. */
class AnchoredSystem {
  ledgerHead = { seq: 1, hash: 'a1' };
  readonly sentTo: string[] = [];
  error: Error | undefined;
  hasHandler = true;

  publishAnchor(handler: string): boolean {
    if (this.error !== undefined) throw this.error;
    this.sentTo.push(handler);
    return this.hasHandler;
  }
}

function defaultLogLevel() {
  const parsed = parseBackendConfig(sources({ argv: [] }));
  if ('help' in parsed) throw new Error('help instead of a configuration');
  return parsed.config.logLevel;
}

describe('anchorLedger', () => {
  it('logs the head at the start, every hour and at the end, visible at the default log level', async () => {
    const [clock, system, lines] = [new ManualClock(), new AnchoredSystem(), [] as string[]];
    const log = createLogger('mon-backend', defaultLogLevel(), { write: (line) => lines.push(line) });
    const anchors = () =>
      lines.map((line) => JSON.parse(line) as { msg: string; anchor: string }).map(({ msg, anchor }) => [msg, anchor]);

    const stop = anchorLedger(system, { clock, log, handler: undefined });
    system.ledgerHead = { seq: 2, hash: 'b2' };
    await clock.advance(HOUR_MS);
    system.ledgerHead = { seq: 3, hash: 'c3' };
    await clock.advance(HOUR_MS - 1);
    stop();
    await clock.advance(2 * HOUR_MS);

    expect(anchors()).to.deep.equal([
      ['ledger anchored', '1:a1'],
      ['ledger anchored', '2:b2'],
      ['ledger anchored', '3:c3'],
    ]);
    expect(system.sentTo).to.deep.equal([]);
  });

  it('sends the head to the handler at the start and every hour', async () => {
    const [clock, system] = [new ManualClock(), new AnchoredSystem()];
    anchorLedger(system, { clock, log: new RecordedLog(), handler: 'archive' });
    await clock.advance(2 * HOUR_MS);
    expect(system.sentTo).to.deep.equal(['archive', 'archive', 'archive']);
  });

  it('logs that the handler could not be reached, and tries again after an hour', async () => {
    const [clock, system, log] = [new ManualClock(), new AnchoredSystem(), new RecordedLog()];
    system.error = new StoreUnavailable('the store cannot be written now');
    anchorLedger(system, { clock, log, handler: 'archive' });
    expect(log.lines.map(({ msg }) => msg)).to.deep.equal([
      'ledger anchored',
      'could not send the ledger anchor to its handler',
    ]);
    system.error = undefined;
    await clock.advance(HOUR_MS);
    expect(system.sentTo).to.deep.equal(['archive']);
  });

  it('warns at each anchor for which the handler does not exist, and names the handler', async () => {
    const [clock, system, log] = [new ManualClock(), new AnchoredSystem(), new RecordedLog()];
    const warnings = () =>
      log.lines.filter(({ msg }) => msg.startsWith('the handler of the ledger anchor does not exist'));
    system.hasHandler = false;
    anchorLedger(system, { clock, log, handler: 'nope' });
    const fields = { handler: 'nope', namespace: 'mon-system', flag: 'ledger-anchor-handler' };
    expect(warnings().map((line) => [line.level, line.fields])).to.deep.equal([['warn', fields]]);
    await clock.advance(HOUR_MS);
    expect(warnings()).to.have.length(2);
    system.hasHandler = true;
    await clock.advance(HOUR_MS);
    expect(warnings()).to.have.length(2);
  });
});
