import { once } from 'node:events';
import { expect } from 'chai';
import { InProcessAgent } from '../../agent/in-process-agent.ts';
import { FakeBackend, type FakeSession } from '../../agent/fake-backend.ts';
import { jsonCodec, protobufCodec } from '../../../src/wire/codec.ts';
import { encodeFrame } from '../../../src/wire/frame.ts';
import { eventually, inTime } from '../../support/eventually.ts';
import { readGolden } from '../../support/golden-file.ts';

interface Reaction {
  stimulus: string;
  reaction: string;
}

const { reactions } = JSON.parse(readGolden('wire/real-agent/reactions.json')) as { reactions: Reaction[] };

/** The numbers in the stimuli that match. */
const recordedNumbers = (stimulus: RegExp): number[] =>
  reactions.flatMap(({ stimulus: text }) => {
    const number = stimulus.exec(text)?.[1];
    return number === undefined ? [] : [Number(number)];
  });

const NO_ENTITY = { metadata: { name: 'not found', namespace: 'default' }, entity_class: 'agent' };
const PATIENCE = { withinMs: 15_000 };

/** The recorded reactions to a backend that spec/agent does not cover. */
describe('an agent that reacts to its backend like the recorded agent', function () {
  this.timeout(60_000);
  let backend: FakeBackend;
  let agent: InProcessAgent;

  async function start(options: Parameters<typeof FakeBackend.start>[0] = {}): Promise<void> {
    backend = await FakeBackend.start(options);
    agent = InProcessAgent.start(backend.url, '--retry-min', '50ms', '--retry-max', '100ms');
  }

  afterEach(async () => {
    await agent.kill();
    await backend.stop();
  });

  const anotherSession = async (before: number): Promise<FakeSession> => {
    await eventually(() => backend.sessions.length > before, Boolean, PATIENCE);
    return backend.ready();
  };

  const request = (name: string): Buffer => {
    const { encodeCheckRequest, decodeCheckRequest } = protobufCodec;
    const config = { command: 'echo ran', interval: 60, metadata: { name, namespace: 'default' } };
    const issued = Math.floor(Date.now() / 1_000);
    const json = Buffer.from(JSON.stringify({ config, issued, assets: null, hooks: null, hook_assets: {} }));
    return encodeFrame('check_request', encodeCheckRequest(decodeCheckRequest(json)));
  };

  for (const [what, accepts, spoken] of [
    ['JSON without an Accept line', [], jsonCodec],
    ['protobuf when its Accept line comes last', [jsonCodec.mediaType, protobufCodec.mediaType], protobufCodec],
  ] as const) {
    it(`speaks ${what}, and declares it at the next handshake`, async () => {
      await start({ accepts });
      const { socket } = await backend.ready();
      socket.terminate();
      expect((await anotherSession(1)).headers['content-type']).to.equal(spoken.mediaType);
    });
  }

  it('reconnects after every refusal of a handshake, and declares no encoding before it has used one', async () => {
    const statuses = recordedNumbers(/^handshake refused with (\d+)/);
    expect(statuses).to.have.lengthOf(8);
    await start({ refuseWith: statuses[0] });
    for (const status of statuses) {
      backend.options.refuseWith = status;
      const before = backend.attemptsMs.length;
      await eventually(() => backend.attemptsMs.length >= before + 2, Boolean, PATIENCE);
    }
    backend.options.refuseWith = undefined;
    expect((await backend.ready()).headers).to.not.have.property('content-type');
  });

  it('reconnects after every close code and after a reset', async () => {
    const codes = recordedNumbers(/^backend closes with (\d+)/);
    expect(codes).to.have.lengthOf(4);
    await start();
    for (const code of [...codes, undefined]) {
      const { socket } = await backend.ready();
      const before = backend.sessions.length;
      if (code === undefined) socket.terminate();
      else socket.close(code);
      await anotherSession(before);
    }
  });

  it('discards check requests that arrive before its entity config', async () => {
    await start({ entityConfig: undefined });
    await eventually(() => backend.sessions.length === 1, Boolean, PATIENCE);
    backend.requestCheck({ metadata: { name: 'early' }, command: 'echo early' }, 1);
    backend.send(`entity_config\n${JSON.stringify(NO_ENTITY)}`);
    backend.requestCheck({ metadata: { name: 'late' }, command: 'echo late' }, 1);
    await backend.eventsOf('late');
    expect(backend.events.map(({ body }) => body.check.metadata.name as unknown)).to.deep.equal(['late']);
  });

  it('runs a check that is requested in a text message with a protobuf body', async () => {
    await start({ accepts: [protobufCodec.mediaType] });
    const { socket } = await backend.ready();
    socket.send(request('in-text'), { binary: false });
    const [event] = await backend.eventsOf('in-text');
    expect(event?.body.check.output).to.equal('ran\n');
    expect(backend.sessions).to.have.lengthOf(1);
  });

  it('answers a ping with the body of the ping', async () => {
    await start();
    const { socket } = await backend.ready();
    socket.ping('hallo');
    const [body] = (await inTime(once(socket, 'pong'), 'the pong')) as [Buffer];
    expect(body.toString()).to.equal('hallo');
  });

  // The recorded agent exited with status 2.
  for (const type of ['entity_config', 'check_request']) {
    it(`keeps running after an empty ${type}`, async () => {
      await start({ accepts: [protobufCodec.mediaType] });
      await backend.ready();
      backend.send(encodeFrame(type, Buffer.alloc(0)));
      backend.send(request('alive'));
      const [event] = await backend.eventsOf('alive');
      expect(event?.body.check.output).to.equal('ran\n');
      expect(backend.sessions).to.have.lengthOf(1);
    });
  }
});
