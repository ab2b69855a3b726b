import { expect } from 'chai';
import { Keepalives } from '../../src/agent/keepalives.ts';
import { SequenceNumbers } from '../../src/agent/sequence-numbers.ts';
import { entityWithDefaults } from '../../src/resources/entity.ts';
import type { Event } from '../../src/resources/event.ts';
import { ManualClock } from '../support/manual-clock.ts';

describe('keepalives', () => {
  let clock: ManualClock;
  let sent: Event[];
  let sequences: SequenceNumbers;
  let keepalives: Keepalives;
  const send = (keepalive: Event): unknown => sent.push(keepalive);

  beforeEach(() => {
    clock = new ManualClock(1_700_000_000_000);
    sent = [];
    sequences = new SequenceNumbers();
    const entity = entityWithDefaults({ metadata: { name: 'web-1', namespace: 'ops' } });
    keepalives = new Keepalives(
      {
        intervalS: 20,
        warningTimeoutS: 120,
        criticalTimeoutS: 300,
        labels: { team: 'core' },
        annotations: {},
        pipelines: [{ name: 'ops', type: 'Pipeline', api_version: 'core/v2' }],
      },
      { clock, entity: () => entity, nextSequence: (name) => sequences.next(name) },
    );
  });

  it('begin at once and continue at each interval', async () => {
    keepalives.begin(send);
    expect(sent).to.have.lengthOf(1);
    await clock.advance(19_999);
    expect(sent).to.have.lengthOf(1);
    await clock.advance(40_001);
    expect(sent.map(({ sequence }) => sequence)).to.deep.equal([1, 2, 3, 4]);
    expect(sent.map(({ timestamp }) => timestamp - 1_700_000_000)).to.deep.equal([0, 20, 40, 60]);
  });

  it('carry the interval and both timeouts in the check', () => {
    keepalives.begin(send);
    expect(sent[0]?.check).to.include({ interval: 20, timeout: 120, ttl: 300, status: 0 });
    expect(sent[0]?.metadata.namespace).to.equal('ops');
    expect(sent[0]?.check?.metadata).to.include({ name: 'keepalive', namespace: 'ops' });
  });

  it('carry labels and pipelines of the event', () => {
    keepalives.begin(send);
    expect(sent[0]?.metadata.labels).to.deep.equal({ team: 'core' });
    expect(sent[0]?.metadata.annotations).to.equal(undefined);
    expect(sent[0]?.pipelines).to.deep.equal([{ name: 'ops', type: 'Pipeline', api_version: 'core/v2' }]);
  });

  it('end with the session and begin again with the next', async () => {
    keepalives.begin(send);
    keepalives.end();
    await clock.advance(60_000);
    expect(sent).to.have.lengthOf(1);
    sequences.restart();
    keepalives.begin(send);
    expect(sent.at(-1)?.sequence).to.equal(1);
  });
});
