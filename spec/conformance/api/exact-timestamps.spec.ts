import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseEvent } from '../../../src/resources/event.ts';
import { encodeFrame } from '../../../src/wire/frame.ts';
import { encodeEvent } from '../../../src/wire/protobuf-codec.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent, proxyEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const NANOSECONDS = 1_795_263_001_927_089_953n;
const WRITTEN = `"timestamp":${NANOSECONDS},`;
const METRICS = '{"handlers":["file"],"points":[{"name":"load","value":0.5,"timestamp":1795263001927089953}]}';

/** The event as JSON with a timestamp that a JavaScript number would round. */
const withMetrics = (event: object): string => JSON.stringify(event).replace(/}$/, `,"metrics":${METRICS}}`);

describe('a metric point in nanoseconds', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const backend = perTest(() => InProcessBackend.start());
  const api = perTest(() => backend.login());

  const file = (): string => join(directory.path, 'given');
  const given = (): string[] => (existsSync(file()) ? readFileSync(file(), 'utf8').split('\n') : []);

  async function keepWhatIsGiven(): Promise<void> {
    const command = `cat >> ${file()}; echo >> ${file()}`;
    const body = { metadata: { name: 'file', namespace: 'default' }, type: 'pipe', command };
    const { status, text } = await api.put('/ns/default/handlers/file', body);
    expect(status, text).to.equal(201);
  }

  /** The event as the handler received it. */
  const input = async (): Promise<string | undefined> => {
    const [first] = await eventually(given, (lines) => lines.length > 1, { what: 'the run of the handler' });
    return first;
  };

  it('keeps all its digits at the handler and in the answer when it is put through the API', async () => {
    await keepWhatIsGiven();
    const put = await api.put('/ns/default/events/sw-1/load', withMetrics(proxyEvent('sw-1', 'load')));
    expect(put.status, put.text).to.equal(200);
    expect(put.text).to.contain(WRITTEN);
    expect(await input()).to.contain(WRITTEN);
    const stored = await api.get('/ns/default/events/sw-1/load');
    expect([stored.status, stored.text.includes('metrics')]).to.deep.equal([200, false]);
  });

  it('keeps all its digits in the answer when its event is posted without a check', async () => {
    const { entity } = proxyEvent('sw-1', 'load');
    const posted = await api.post('/ns/default/events', withMetrics({ entity }));
    expect(posted.status, posted.text).to.equal(200);
    expect(posted.text).to.contain(WRITTEN);
  });

  it('is refused by name when it exceeds 64 bits', async () => {
    const body = withMetrics(proxyEvent('sw-1', 'load')).replace('1795263001927089953', '9223372036854775808');
    const { status, json } = await api.put('/ns/default/events/sw-1/load', body);
    expect(status).to.equal(400);
    expect(json).to.deep.include({ message: 'metrics.points.0.timestamp must be a whole number of 64 bits' });
  });

  const json = withMetrics(checkEvent('web-01', 'load'));
  const protobuf = encodeEvent({
    ...parseEvent(checkEvent('web-01', 'load')),
    metrics: { handlers: ['file'], points: [{ name: 'load', value: 0.5, timestamp: NANOSECONDS, tags: null }] },
  });
  const sessions: [string, string, string | Buffer][] = [
    ['JSON', 'application/json', json],
    ['protobuf', 'application/octet-stream', protobuf],
  ];
  for (const [encoding, accept, payload] of sessions) {
    it(`keeps all its digits at the handler when an agent sends it in ${encoding}`, async () => {
      await keepWhatIsGiven();
      const agent = await backend.connect({ name: 'web-01', headers: { Accept: accept } });
      agent.sendRaw(encodeFrame('event', payload));
      expect(await input()).to.contain(WRITTEN);
    });
  }
});
