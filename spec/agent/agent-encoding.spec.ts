import { expect } from 'chai';
import { protobufCodec } from '../../src/wire/codec.ts';
import { checkWithDefaults } from '../../src/resources/check.ts';
import { encodeFrame } from '../../src/wire/frame.ts';
import { eventually } from '../support/eventually.ts';
import { InProcessAgent } from './in-process-agent.ts';
import { FakeBackend } from './fake-backend.ts';

const PROTOBUF = 'application/octet-stream';
const JSON_TYPE = 'application/json';

describe('the encoding of a connection', function () {
  this.timeout(30_000);
  let backend: FakeBackend;
  let agent: InProcessAgent;

  afterEach(async () => {
    await agent.kill();
    await backend.stop();
  });

  it('is protobuf in both directions when an Accept line of the backend says so, and is sent on reconnects', async () => {
    backend = await FakeBackend.start({ accepts: [PROTOBUF, JSON_TYPE] });
    agent = InProcessAgent.start(backend.url, '--labels', 'area=north');
    const session = await backend.ready();
    expect(session.headers).to.not.have.property('content-type');
    expect(backend.keepalives[0]?.body.entity.metadata.labels).to.deep.equal({ area: 'north' });
    const config = checkWithDefaults({
      metadata: { name: 'disk', namespace: 'default' },
      interval: 60,
      command: 'echo out',
    });
    const request = { config, issued: 1, assets: null, hooks: null, hook_assets: {} };
    backend.send(encodeFrame('check_request', protobufCodec.encodeCheckRequest(request)));
    const [event] = await backend.eventsOf('disk');
    expect(event?.type).to.equal('event 1');
    expect(event?.body.check).to.deep.include({ output: 'out\n', status: 0, issued: 1 });
    session.socket.terminate();
    await eventually(() => backend.sessions.length === 2);
    expect((await backend.ready()).headers['content-type']).to.equal(PROTOBUF);
  });

  it('is JSON when the Accept lines are combined, and events queued as JSON use the encoding of the next connection', async () => {
    backend = await FakeBackend.start({ accepts: [`${PROTOBUF}, ${JSON_TYPE}`], acksEvents: false });
    agent = InProcessAgent.start(backend.url);
    const session = await backend.ready();
    backend.requestCheck({ metadata: { name: 'disk' }, command: 'echo out; exit 2' }, 1);
    const [before] = await backend.eventsOf('disk');
    backend.options.accepts = [PROTOBUF];
    session.socket.terminate();
    const [, after] = await backend.eventsOf('disk', 2);
    expect(backend.current?.headers['content-type']).to.equal(JSON_TYPE);
    expect(after?.type).to.equal('event 1');
    expect(after?.body.id).to.equal(before?.body.id);
    expect(after?.body.check.output).to.equal(before?.body.check.output);
  });
});
